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

/// Returns true if all elements are combined in double, because the result may be far from all of them.
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
/// Return the larger or the smaller number; NaN if one is NaN.
template <class N>
TROUPE_HOST_DEVICE N larger(N a, N b) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(N) == sizeof(float)) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
  }
#endif
  return a > b || a != a ? a : b;
}
template <class N>
TROUPE_HOST_DEVICE N smaller(N a, N b) noexcept {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(N) == sizeof(float)) {
    asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
  }
#endif
  return a < b || a != a ? a : b;
}
template <class N>
TROUPE_HOST_DEVICE N combine(reduction_kind k, N a, N b) noexcept {
  switch (k) {
    case reduction_kind::maximum:
    case reduction_kind::absolute_maximum:
      return larger(a, b);
    case reduction_kind::minimum:
      return smaller(a, b);
    case reduction_kind::product:
      return a * b;
    default:
      return a + b;
  }
}
/// `count` is the number of elements, and `share` is 1 divided by it: divisions are slow, and N need not be so exact if
/// it is float.
template <class N>
TROUPE_HOST_DEVICE double finished(reduction_kind k, double x, double share, double count) noexcept {
  if (k == reduction_kind::mean) return sizeof(N) == sizeof(float) ? x * share : x / count;
  return k == reduction_kind::norm2 ? std::sqrt(x) : x;
}

TROUPE_HOST_DEVICE float multiply_add(float x, float y, float z) noexcept { return fmaf(x, y, z); }
TROUPE_HOST_DEVICE double multiply_add(double x, double y, double z) noexcept { return fma(x, y, z); }

/// Some elements: how many, their mean, and the sum of their squared distances from it.
template <class N>
struct moments {
  N count, mean, squares;
};
/// Combines the moments of different elements. Divides in the type `Share`: on GPUs, double divisions are slow.
template <class Share, class N>
TROUPE_HOST_DEVICE moments<N> combine(const moments<N>& a, const moments<N>& b) noexcept {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  const N count = a.count + b.count, distance = b.mean - a.mean;
  const auto share = static_cast<N>(static_cast<Share>(b.count) / static_cast<Share>(count));
  return {count, multiply_add(distance, share, a.mean),
          a.squares + multiply_add(distance * distance, a.count * share, b.squares)};
}

/// Threads that combine the parts of a set: thread t combines parts t, t + 32, ..., then threads are combined in pairs.
inline constexpr unsigned threads_for_parts = 32;

}  // namespace troupe::dnn::sets
