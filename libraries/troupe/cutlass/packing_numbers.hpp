// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/numbers.hpp>

/// The arithmetic of `pack`, for the host engine and for kernels: both have the same bits.
namespace troupe::cutlass::packing_numbers {

/// The largest number that a scaled element may be. For i8 the negative ones are as many.
template <class T>
TROUPE_EVERYWHERE float largest_of() noexcept {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return 127.0f;
  else if constexpr (std::is_same_v<T, float8_e4m3>)
    return 448.0f;
  else if constexpr (std::is_same_v<T, float8_e5m2>)
    return 57344.0f;
  else
    return 6.0f;  // float4_e2m1
}

/// What a block's elements add to its largest magnitude: NaN wins, and so does an infinity.
TROUPE_EVERYWHERE float larger_magnitude(float so_far, float x) noexcept {
  const float a = fabsf(x);
  return a > so_far || a != a ? a : so_far;
}

/// The scale of a block, NaN if its largest magnitude is NaN or infinite.
template <class T>
TROUPE_EVERYWHERE float scale_of(float largest_magnitude) noexcept {
  return (largest_magnitude - largest_magnitude + largest_magnitude) / largest_of<T>();
}

/// An element divided by its scale, which is that in memory.
template <class T>
TROUPE_EVERYWHERE T quantized(float x, float scale) noexcept {
  constexpr float none = 0.0f;
  // Also false for NaN. The scale is 0 for zeros, and for numbers so small that it has no float.
  if (!(scale > none)) return epilogue::rounded_to<T>(none);
  const float most = largest_of<T>(), q = x / scale;
  return epilogue::rounded_to<T>(q > most ? most : q < -most ? -most : q);
}

}  // namespace troupe::cutlass::packing_numbers
