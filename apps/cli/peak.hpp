// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/base/time_span.hpp>

namespace troupe::apps {

/// The rate at which this processor multiplies and adds numbers of double precision, which is an upper bound for every
/// matrix product. It is measured with a loop of such instructions on registers, the widest that the processor has, on
/// several threads at once.
struct arithmetic_peak {
  /// operations per second of all threads together; 0 if this kind of processor is unknown
  double flops = 0;
  std::string_view instruction;  ///< "AVX-512 FMA"
};

/// Measures for about the given time, and returns the rate of the best millisecond.
arithmetic_peak measure_peak(int threads, time_span time);

}  // namespace troupe::apps
