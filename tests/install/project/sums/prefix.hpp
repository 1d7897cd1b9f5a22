// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/checker.hpp>

namespace sums {

/// output[i] = input[0] + ... + input[i]
struct prefix {
  troupe::in<float> input;
  troupe::out<float> output;
  troupe::extent n;
  TROUPE_REQUEST("sums.prefix", input, output, n)

  void check(troupe::checker& c) const {
    c.positive(n);
    c.elements(input, n);
    c.elements(output, n);
  }
};

}  // namespace sums
