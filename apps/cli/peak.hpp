// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/base/time_span.hpp>

namespace troupe::apps {

/// Measures how fast this processor multiplies and adds numbers of double precision, the upper bound for every matrix
/// product: by a loop of only such instructions on registers, the widest that the processor has, on several threads at
/// once.
struct arithmetic_peak {
  double flops = 0;              ///< per second, of all threads together; 0 if this kind of processor is unknown
  std::string_view instruction;  ///< "AVX-512 FMA"
};

/// Takes about the given time; the best millisecond of it counts.
arithmetic_peak measure_peak(int threads, time_span time);

}  // namespace troupe::apps
