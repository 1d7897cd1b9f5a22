// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/base/time_span.hpp>

namespace troupe::apps {

/// How fast this processor multiplies and adds numbers of double precision when nothing else is to be done: the bound
/// for every matrix product. It is measured by a loop of nothing but such instructions on registers, the widest that
/// the processor has, on some threads at once.
struct arithmetic_peak {
  double flops = 0;              ///< per second, of all threads together; 0: not known for this kind of processor
  std::string_view instruction;  ///< "AVX-512 FMA"
};

/// Takes about as long as it is told; the best millisecond of it counts.
arithmetic_peak measure_peak(int threads, time_span time);

}  // namespace troupe::apps
