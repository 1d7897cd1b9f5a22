// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <troupe/base/dtype.hpp>
#include <troupe/epilogue/host_device.hpp>

/// Rounding to narrow types, computed in double without branches or calls.
namespace troupe::dnn {

/// A type of narrow floats: the bits of its mantissa, the exponent of its smallest normal number, and its largest
/// number.
struct narrow_type {
  std::int64_t mantissa, least_exponent;
  double largest;
  bool has_nan;
};
TROUPE_HOST_DEVICE narrow_type narrow_type_of(dtype t) noexcept {
  if (t == dtype::f8e5m2) return {2, -14, 57344, true};
  if (t == dtype::f4e2m1) return {1, 0, 6, false};
  return {3, -6, 448, true};
}

TROUPE_HOST_DEVICE std::uint64_t bits_of_double(double x) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
TROUPE_HOST_DEVICE double double_of_bits(std::uint64_t bits) noexcept {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Rounds x to the nearest number of the type, ties to even. Clamps it to the type's largest number.
TROUPE_HOST_DEVICE double narrowed(const narrow_type& t, double x) noexcept {
  const double magnitude = x < 0 ? -x : x, limited = magnitude > t.largest ? t.largest : magnitude;
  const std::uint64_t exponent = bits_of_double(limited) >> 52,
                      least = static_cast<std::uint64_t>(t.least_exponent + 1023);
  // A unit is the distance of the type's numbers at this magnitude. Adding 1.5 * 2^52 units rounds to whole units.
  const std::uint64_t units = (exponent > least ? exponent : least) - static_cast<std::uint64_t>(t.mantissa) + 52;
  const double shift = double_of_bits(units << 52 | std::uint64_t{1} << 51);
  const double rounded = (limited + shift) - shift, out = x < 0 ? -rounded : rounded;
  return x == x ? out : t.has_nan ? x : t.largest;
}

/// Returns the smallest power of two that is at least x, clamped to the range from 2^-127 to 2^127.
TROUPE_HOST_DEVICE double power_not_below(double x) noexcept {
  const std::uint64_t bits = bits_of_double(x), rest = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t above = (bits >> 52) + (rest != 0 ? 1 : 0);
  const std::uint64_t limited = above < 1023 - 127 ? 1023 - 127 : above > 1023 + 127 ? 1023 + 127 : above;
  return x == x ? double_of_bits(limited << 52) : x;
}

/// Returns the scale of a block. `largest` is the largest magnitude of the block's elements.
TROUPE_HOST_DEVICE double scale_of_block(double largest, const narrow_type& elements, dtype scales) noexcept {
  const double x = largest / elements.largest;
  if (scales == dtype::f8e8m0) return power_not_below(x);
  return scales == dtype::f32 ? static_cast<double>(static_cast<float>(x)) : narrowed(narrow_type_of(scales), x);
}
TROUPE_HOST_DEVICE double scaled_element(double x, double scale, const narrow_type& elements) noexcept {
  const double out = narrowed(elements, x / scale);
  return scale == 0 ? 0 : out;
}

}  // namespace troupe::dnn
