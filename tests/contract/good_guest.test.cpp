// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Devices in programs that limit, signal, or treat their process in ways of their own.

#include <fstream>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

int score_of(const std::string& process) {
  int score = -1;
  std::ifstream("/proc/" + process + "/oom_score_adj") >> score;
  return score;
}

TEST(good_guest, the_system_kills_the_worker_first_if_memory_is_short) {
  const int own = score_of("self");
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 1}));
  const device in_thread = rt.open_device(with_test_engines({.isolation = isolation::thread}));
  ASSERT_OK(gpu.started().get());
  ASSERT_OK(in_thread.started().get());
  EXPECT_EQ(score_of(std::to_string(gpu.statistics().worker_pid.value())), 1000);
  EXPECT_EQ(score_of("self"), own) << "a worker that is a thread must not change its program";
}

}  // namespace
}  // namespace troupe::whole
