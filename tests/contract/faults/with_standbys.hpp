// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tests/contract/harness.hpp>

namespace troupe::whole {

/// Devices whose workers are replaced, with as many standbys as the parameter says.
class with_standbys : public testing::TestWithParam<std::uint32_t> {
 protected:
  explicit with_standbys(std::uint32_t restarts = 3) : restarts_(restarts) {}
  device open(device_options o = {}) {
    o = with_test_engines(std::move(o));
    o.standbys = GetParam();
    o.restarts = restarts_;
    return rt.open_device(o);
  }
  runtime rt;

 private:
  std::uint32_t restarts_;
};

/// Instantiates a suite with several numbers of standbys.
#define TROUPE_WITH_STANDBYS(suite)                                  \
  INSTANTIATE_TEST_SUITE_P(with, suite, testing::Values(0u, 1u, 2u), \
                           [](const auto& i) { return std::to_string(i.param) + "_standbys"; })

}  // namespace troupe::whole
