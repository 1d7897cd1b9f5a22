// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/numbers.hpp>

/// The arithmetic of `pack`, for the host engine and for kernels: both compute the same bits.
namespace troupe::cutlass::packing_numbers {

/// Returns the largest magnitude that a scaled element may have. For i8 it is 127, so that the range is symmetric.
template <class T>
TROUPE_HOST_DEVICE float largest_of() noexcept {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return 127.0f;
  else if constexpr (std::is_same_v<T, float8_e4m3>)
    return 448.0f;
  else if constexpr (std::is_same_v<T, float8_e5m2>)
    return 57344.0f;
  else
    return 6.0f;  // float4_e2m1
}

/// Returns the larger of `so_far` and the magnitude of x; NaN if x is NaN.
TROUPE_HOST_DEVICE float larger_magnitude(float so_far, float x) noexcept {
  const float a = fabsf(x);
  return a > so_far || a != a ? a : so_far;
}

/// Returns the scale of a block: NaN if its largest magnitude is NaN or infinite.
template <class T>
TROUPE_HOST_DEVICE float scale_of(float largest_magnitude) noexcept {
  return (largest_magnitude - largest_magnitude + largest_magnitude) / largest_of<T>();
}

/// Returns an element, divided by its scale and rounded. `scale` is the scale after it was rounded to its stored type.
template <class T>
TROUPE_HOST_DEVICE T quantized(float x, float scale) noexcept {
  constexpr float none = 0.0f;
  // Also true for a NaN scale. The scale is 0 if all elements are 0, or so small that the scale underflows.
  if (!(scale > none)) return epilogue::rounded_to<T>(none);
  const float most = largest_of<T>(), q = x / scale;
  return epilogue::rounded_to<T>(q > most ? most : q < -most ? -most : q);
}

}  // namespace troupe::cutlass::packing_numbers
