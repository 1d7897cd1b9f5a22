// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace troupe {

/// Returns the number of zero bits above the highest one bit. Precondition: x is not 0.
constexpr int leading_zeros(std::uint64_t x) noexcept {
#ifdef __CUDA_ARCH__
  // On the device, nvcc compiles std::countl_zero to the constant 64.
  if (!std::is_constant_evaluated()) return __clzll(static_cast<long long>(x));
#endif
  return std::countl_zero(x);
}

/// A number as an exact pair: magnitude * 2^exponent if it is finite. For a NaN, `magnitude` holds the payload, whose
/// leading bit is the highest bit.
struct number_parts {
  enum class kind : std::uint8_t { finite, infinite, nan };

  enum kind kind = kind::finite;
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;

  /// Returns the floor of the binary logarithm. Precondition: the number is finite and not zero.
  constexpr int leading_exponent() const { return 63 - leading_zeros(magnitude) + exponent; }
};

template <class Float>
  requires std::same_as<Float, float> || std::same_as<Float, double>
constexpr number_parts take_apart(Float x) noexcept {
  using word = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;
  constexpr int mantissa_bits = sizeof(Float) == 4 ? 23 : 52;
  constexpr int exponent_mask = sizeof(Float) == 4 ? 0xff : 0x7ff;
  constexpr int unit = 1 - exponent_mask / 2 - mantissa_bits;  // exponent of the smallest subnormal
  const word code = std::bit_cast<word>(x);
  const bool negative = code >> (sizeof(word) * 8 - 1);
  const int exponent = static_cast<int>(code >> mantissa_bits) & exponent_mask;
  const std::uint64_t mantissa = code & ((word{1} << mantissa_bits) - 1);
  if (exponent == exponent_mask) {
    const auto kind = mantissa == 0 ? number_parts::kind::infinite : number_parts::kind::nan;
    return {.kind = kind, .negative = negative, .magnitude = mantissa << (64 - mantissa_bits)};
  }
  if (exponent == 0) return {.negative = negative, .magnitude = mantissa, .exponent = unit};
  return {
      .negative = negative, .magnitude = mantissa | std::uint64_t{1} << mantissa_bits, .exponent = unit + exponent - 1};
}

/// An integer whose magnitude fits `number_parts`. Excludes `__int128`, which is integral in GNU modes.
template <class T>
concept small_integer = std::integral<T> && sizeof(T) <= sizeof(std::uint64_t);

template <small_integer Integer>
constexpr number_parts take_apart(Integer x) noexcept {
  const bool negative = std::is_signed_v<Integer> && x < Integer{};
  const auto wide = static_cast<std::uint64_t>(x);
  return {.negative = negative, .magnitude = negative ? std::uint64_t{0} - wide : wide};
}

}  // namespace troupe
