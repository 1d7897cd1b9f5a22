// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/epilogue/host_device.hpp>

/// The functions of a reduction: combine `prepared` elements from `start_of` on, then compute `finished`. Kernels and
/// the host include them.
namespace troupe::dnn::sets {

/// Returns true if even neighboring elements are combined in double, because the result may be far from all of them.
TROUPE_HOST_DEVICE constexpr bool combines_in_double(reduction_kind k) noexcept {
  return k == reduction_kind::product || k == reduction_kind::norm2;
}

template <class N>
TROUPE_HOST_DEVICE constexpr N start_of(reduction_kind k) noexcept {
  constexpr N infinite = std::numeric_limits<N>::infinity();
  return k == reduction_kind::maximum   ? -infinite
         : k == reduction_kind::minimum ? infinite
         : k == reduction_kind::product ? N(1)
                                        : N(0);
}
template <class N>
TROUPE_HOST_DEVICE N prepared(reduction_kind k, N x) noexcept {
  if (k == reduction_kind::absolute_maximum || k == reduction_kind::norm1) return x < 0 ? -x : x;
  return k == reduction_kind::norm2 ? x * x : x;
}
template <class N>
TROUPE_HOST_DEVICE N combine(reduction_kind k, N a, N b) noexcept {
  switch (k) {
    case reduction_kind::maximum:
    case reduction_kind::absolute_maximum:
      return a > b || a != a ? a : b;
    case reduction_kind::minimum:
      return a < b || a != a ? a : b;
    case reduction_kind::product:
      return a * b;
    default:
      return a + b;
  }
}
TROUPE_HOST_DEVICE double finished(reduction_kind k, double x, long long elements) noexcept {
  if (k == reduction_kind::mean) return x / static_cast<double>(elements);
  return k == reduction_kind::norm2 ? std::sqrt(x) : x;
}

/// Threads that combine the parts of a set: thread t combines parts t, t + 32, ..., then threads are combined in pairs.
inline constexpr unsigned threads_for_parts = 32;

}  // namespace troupe::dnn::sets
