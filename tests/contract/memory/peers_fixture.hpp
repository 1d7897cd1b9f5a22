// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tests of copies between devices: read by the target's worker, or through host memory.
#include <tests/contract/harness.hpp>
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
  // Returns the statistics of `gpu` about `from`.
  static peer_statistics seen(const device& gpu, const device& from) {
    for (const peer_statistics& p : gpu.statistics().peers)
      if (p.from == from.name()) return p;
    return {};
  }

  runtime rt;
};

}  // namespace troupe::whole::peers_tests
