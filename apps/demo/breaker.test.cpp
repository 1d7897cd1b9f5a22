// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <apps/demo/breaker.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/faults/faults.hpp>

namespace demo {
namespace {

using namespace troupe;

TEST(breaker, distinguishes_its_own_faults_from_those_of_others) {
  runtime rt;
  const device gpu = rt.open_device({.libraries = {"faults"}, .restarts = 100});
  ASSERT_TRUE(gpu.started().get());
  breaker own(gpu, {.seconds = 0.2, .faults = 1}, now_ns());
  device_watch watch = gpu.watch();
  const auto await_next_worker = [&watch] {
    while (watch.next().get().value().kind != event_kind::serving) {
    }
  };
  await_next_worker();
  EXPECT_EQ(own.join().size(), 1u);
  ASSERT_EQ(faults::injector(gpu).kill_worker(SIGTERM), 1);
  await_next_worker();
  const std::vector<event> all = own.join();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].ours);
  EXPECT_EQ(all[0].what, "kill -9");
  EXPECT_FALSE(all[1].ours);
  EXPECT_EQ(all[1].what, "by others: SIGTERM");
  EXPECT_GT(all[1].to_s, all[1].from_s);
}

}  // namespace
}  // namespace demo
