// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies from one device to another: read by the target's worker, or through memory of the host.
#include <thread>

#include "harness.hpp"
#include "memory_of_others.hpp"

namespace troupe::whole::peers_tests {

using namespace testing_actor;

enum class path { direct, staged };

class copies_between_devices : public testing::TestWithParam<path> {
 protected:
  device open(device_options o = {}) {
    o = with_test_engines(std::move(o));
    o.restarts = 100;
    o.peer_access = GetParam() == path::direct;
    return rt.open_device(o);
  }
  // The one from `from`.
  static peer_statistics seen(const device& gpu, const device& from) {
    for (const peer_statistics& p : gpu.statistics().peers)
      if (p.from == from.name()) return p;
    return {};
  }
  // Its worker has been replaced.
  static void kill_and_wait(const device& gpu) {
    const auto now = [&gpu] { return gpu.statistics(); };
    ASSERT_OK(gpu.started().get());  // before that there is no number to compare with
    const std::uint64_t before = now().generation;
    const int pid = now().worker_pid;
    kill_worker(gpu);
    if (HasFatalFailure()) return;
    while (now().generation == before || now().worker_pid == pid) std::this_thread::yield();
  }
  // A request of the device has the buffer, and ends when it is told to.
  static void begin_to_use(const blockade& b) { ASSERT_TRUE(b.entered()); }
  runtime rt;
};

}  // namespace troupe::whole::peers_tests
