// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <stdexcept>
#include <tests/support/processes.hpp>
#include <troupe/actor/stage.hpp>
#include <troupe/actor/supervisor.hpp>
#include <troupe/async/promise.hpp>
#include <troupe/runtime/device_child.hpp>
#include <troupe/runtime/runtime.hpp>

namespace troupe {
namespace {

TEST(device_child, is_replaced_by_its_supervisor_after_the_device_has_stopped) {
  runtime rt;
  const device_options options{.restarts = 0};  // otherwise the device would replace its worker itself
  stage actors;
  promise<device> first, second;
  auto got_first = first.get_pending(), got_second = second.get_pending();
  const auto open = [&] {
    device d = rt.open_device(options);
    if (!first.set(d)) second.set(d);
    return device_child(d);
  };
  auto root = actors.spawn<supervisor>({.name = "root"}, supervisor_options{},
                                       std::vector{child_spec{.id = "gpu", .start = open}});
  auto one = got_first.get();
  ASSERT_TRUE(one);
  ASSERT_TRUE(one->started().get());
  ASSERT_EQ(::kill(one->statistics().worker_pid.value(), SIGKILL), 0);
  auto two = got_second.get();
  ASSERT_TRUE(two);
  EXPECT_EQ(*two->ping(7).get(), 7u);
  EXPECT_EQ(one->state(), device_state::stopped);
  EXPECT_EQ(one->ping(7).get().error().reaction(), reaction::stopped);
}

struct crash {};

// An actor that owns a device, and crashes on request.
struct owner {
  void handle(crash) { throw std::runtime_error("on purpose"); }
  device gpu;
};

TEST(devices_of_actors, close_when_their_actor_crashes) {
  runtime rt;
  stage actors;
  std::optional<device> mine = rt.open_device();
  ASSERT_TRUE(mine->started().get());
  auto stopped = mine->stopped();
  const int worker = mine->statistics().worker_pid.value();
  const auto its_owner = actors.spawn<owner>({.name = "owner"}, *mine);
  mine.reset();
  EXPECT_EQ(rt.devices().size(), 1u);
  its_owner.tell(crash{});
  EXPECT_TRUE(stopped.get());
  EXPECT_TRUE(whole::has_ended(worker)) << "its process has ended";
  EXPECT_EQ(rt.devices().size(), 0u);
}

}  // namespace
}  // namespace troupe
