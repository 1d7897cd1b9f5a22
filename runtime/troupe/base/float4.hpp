// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/numbers/narrow_float.hpp>

namespace troupe {

/// OCP E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, in the low four bits of a byte. The format has neither
/// infinity nor NaN: every conversion turns values out of range and infinities into ±6 and NaN into +6, as CUDA does.
struct float4_e2m1 : narrow_float_base<float4_e2m1, float_format{2, 1, special_codes::none}> {
  using narrow_float_base::narrow_float_base;
};

/// Two E2M1 numbers in one byte, the first in the low four bits, as vendor libraries store them.
struct float4_e2m1x2 {
  std::uint8_t bits;

  constexpr float4_e2m1x2() noexcept = default;
  constexpr float4_e2m1x2(float4_e2m1 first, float4_e2m1 second) noexcept
      : bits(static_cast<std::uint8_t>((first.bits & 0xf) | (second.bits & 0xf) << 4)) {}
  static constexpr float4_e2m1x2 from_bits(std::uint8_t code) noexcept {
    return {float4_e2m1::from_bits(code), float4_e2m1::from_bits(code >> 4)};
  }

  constexpr float4_e2m1 first() const noexcept { return float4_e2m1::from_bits(bits); }
  constexpr float4_e2m1 second() const noexcept { return float4_e2m1::from_bits(bits >> 4); }

  friend constexpr bool operator==(float4_e2m1x2 a, float4_e2m1x2 b) noexcept {
    return a.first() == b.first() && a.second() == b.second();
  }
};

}  // namespace troupe

template <>
struct std::numeric_limits<troupe::float4_e2m1> : troupe::narrow_float_limits<troupe::float4_e2m1> {};
