// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/numbers/narrow_float.hpp>

namespace troupe {

/// The direction in which a value is rounded to a power of two.
enum class scale_rounding : std::uint8_t {
  nearest_even,  ///< to the nearest power; half way between two, to the one with the even code
  up,            ///< up (CUDA's `cvt.rp`): scaled values cannot overflow
  down,          ///< down (CUDA's `cvt.rz`): the rule of the OCP microscaling formats
};

/// OCP E8M0, the scale of a block in the microscaling formats: code c is 2^(c - 127), and 0xff is NaN. There is no
/// sign, no zero and no infinity.
///
/// Conversions follow CUDA. The sign is dropped; zero, and a value that rounds below 2^-127, become 2^-127; infinity,
/// and a value that rounds above 2^127, become NaN, or 2^127 if the conversion saturates.
struct float8_e8m0 {
  using storage = std::uint8_t;

  storage bits;

  constexpr float8_e8m0() noexcept = default;
  template <class T>
    requires(!std::same_as<T, float8_e8m0> && convertible_number<T>)
  constexpr explicit float8_e8m0(T x) noexcept : float8_e8m0(convert(x, on_overflow::standard)) {}

  static constexpr float8_e8m0 from_bits(storage code) noexcept {
    float8_e8m0 s;
    s.bits = code;
    return s;
  }

  /// Rounds `x` to a power of two.
  template <class T>
    requires std::same_as<T, float8_e8m0> || convertible_number<T>
  static constexpr float8_e8m0 convert(T x, on_overflow choice,
                                       scale_rounding rounding = scale_rounding::nearest_even) noexcept {
    if constexpr (std::is_class_v<T>)
      return round(take_apart(static_cast<float>(x)), choice, rounding);
    else
      return round(take_apart(x), choice, rounding);
  }

  constexpr operator float() const noexcept {
    if (bits == 0xff) return std::bit_cast<float>(0x7fc00000u);
    return std::bit_cast<float>(bits == 0 ? 0x00400000u : std::uint32_t{bits} << 23);
  }

  friend constexpr bool operator==(float8_e8m0 a, float8_e8m0 b) noexcept { return a.bits == b.bits && a.bits != 0xff; }

 private:
  static constexpr float8_e8m0 round(const number_parts& x, on_overflow choice, scale_rounding rounding) noexcept {
    const storage overflow = choice == on_overflow::saturate ? 0xfe : 0xff;
    if (x.kind == number_parts::kind::nan) return from_bits(0xff);
    if (x.kind == number_parts::kind::infinite) return from_bits(overflow);
    if (x.magnitude == 0 || x.leading_exponent() < -127) return from_bits(0);
    const int below = x.leading_exponent() + 127;
    const std::uint64_t rest = x.magnitude << leading_zeros(x.magnitude) << 1;  // the bits after the leading one
    constexpr std::uint64_t half_way = std::uint64_t{1} << 63;
    bool up = false;
    switch (rounding) {
      case scale_rounding::nearest_even:
        up = rest > half_way || (rest == half_way && below % 2 != 0);
        break;
      case scale_rounding::up:
        up = rest != 0;
        break;
      case scale_rounding::down:
        break;
    }
    const int code = below + (up ? 1 : 0);
    return from_bits(code > 0xfe ? overflow : static_cast<storage>(code));
  }
};

}  // namespace troupe

template <>
struct std::numeric_limits<troupe::float8_e8m0> : troupe::limits_of_all_narrow_floats {
  using scale = troupe::float8_e8m0;

  static constexpr bool is_signed = false;
  static constexpr bool is_iec559 = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr std::float_denorm_style has_denorm = std::denorm_absent;
  static constexpr int digits = 1;
  static constexpr int digits10 = 0;
  static constexpr int max_digits10 = 2;
  static constexpr int min_exponent = -126;
  static constexpr int max_exponent = 128;
  static constexpr int min_exponent10 = -38;
  static constexpr int max_exponent10 = 38;

  static constexpr scale min() noexcept { return scale::from_bits(0); }
  static constexpr scale max() noexcept { return scale::from_bits(0xfe); }
  static constexpr scale lowest() noexcept { return min(); }
  static constexpr scale denorm_min() noexcept { return min(); }
  static constexpr scale epsilon() noexcept { return scale::from_bits(127); }
  static constexpr scale round_error() noexcept { return scale::from_bits(126); }
  static constexpr scale infinity() noexcept { return min(); }
  static constexpr scale quiet_NaN() noexcept { return scale::from_bits(0xff); }
  static constexpr scale signaling_NaN() noexcept { return min(); }
};
