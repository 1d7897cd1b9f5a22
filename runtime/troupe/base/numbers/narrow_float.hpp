// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <troupe/base/numbers/float_format.hpp>
#include <type_traits>

namespace troupe {

/// A number stored in fewer bits than a float: `half`, `bfloat16`, `float8_e4m3`, `float8_e5m2`, `float8_e8m0`,
/// `float4_e2m1`.
template <class T>
concept narrow_float = requires(T x) {
  { T::from_bits(x.bits) } -> std::same_as<T>;
  { T::convert(1.0f, on_overflow::saturate) } -> std::same_as<T>;
  requires std::convertible_to<T, float>;
};

/// The types that convert to a narrow float. Each conversion rounds exactly once. `long double` is excluded, because it
/// would be rounded twice.
template <class T>
concept convertible_number = small_integer<T> || std::same_as<T, float> || std::same_as<T, double> || narrow_float<T>;

/// Converts `x` to the narrow type `To`, rounding to nearest even. Values out of range and infinities become the
/// largest finite value of the same sign.
template <narrow_float To, convertible_number From>
constexpr To saturate_cast(From x) noexcept {
  return To::convert(x, on_overflow::saturate);
}

/// The common base of the narrow floats with a sign, an exponent and a mantissa.
///
/// The conversion to float is exact and therefore implicit: a narrow float takes part in arithmetic, comparisons and
/// calls as a float. Conversions from other types round to nearest even and are therefore explicit: `half(x)`, or
/// `saturate_cast<half>(x)`. All conversions are constexpr. A default-initialized narrow float is uninitialized, like a
/// float; `half{}` is zero.
template <class Derived, float_format Format>
struct narrow_float_base {
  using storage = std::conditional_t<(Format.sign_shift() >= 8), std::uint16_t, std::uint8_t>;
  static constexpr float_format format = Format;

  storage bits;  ///< the code, in the low bits if the format is narrower than its storage

  constexpr narrow_float_base() noexcept = default;
  template <class T>
    requires(!std::same_as<T, Derived> && convertible_number<T>)
  constexpr explicit narrow_float_base(T x) noexcept : bits(code_of(x, on_overflow::standard)) {}

  static constexpr Derived from_bits(storage code) noexcept {
    Derived d;
    d.bits = static_cast<storage>(code & (Format.magnitude_mask() * 2 + 1));
    return d;
  }

  /// Rounds `x` to nearest even.
  template <class T>
    requires std::same_as<T, Derived> || convertible_number<T>
  static constexpr Derived convert(T x, on_overflow choice) noexcept {
    return from_bits(code_of(x, choice));
  }

  constexpr operator float() const noexcept { return decode<Format>(bits); }

  /// Compares values: zeros of both signs are equal, a NaN equals nothing.
  friend constexpr bool operator==(Derived a, Derived b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  template <class T>
  static constexpr storage code_of(T x, on_overflow choice) noexcept {
    if constexpr (std::is_class_v<T>)
      return code_of(static_cast<float>(x), choice);
    else if constexpr (std::same_as<T, float> && Format.exponent_bits == 8)
      return static_cast<storage>(encode<Format>(x, choice));
    else
      return static_cast<storage>(encode<Format>(take_apart(x), choice));
  }
};

/// The part of `std::numeric_limits` that is the same for all narrow floats.
struct limits_of_all_narrow_floats {
  static constexpr bool is_specialized = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool has_denorm_loss = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2;
};

/// `std::numeric_limits` of the narrow floats with a sign, an exponent and a mantissa.
template <class T>
struct narrow_float_limits : limits_of_all_narrow_floats {
  static constexpr float_format format = T::format;
  static constexpr bool is_signed = true;
  static constexpr bool is_iec559 = format.special == special_codes::ieee;
  static constexpr bool has_infinity = format.special == special_codes::ieee;
  static constexpr bool has_quiet_NaN = format.special != special_codes::none;
  static constexpr bool has_signaling_NaN = format.special == special_codes::ieee;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr int digits = format.mantissa_bits + 1;
  static constexpr int digits10 = format.mantissa_bits * 30103 / 100000;
  static constexpr int max_digits10 = digits * 30103 / 100000 + 2;
  static constexpr int largest_exponent = static_cast<int>(format.largest() >> format.mantissa_bits) - format.bias();
  static constexpr int min_exponent = format.smallest_exponent() + 1;
  static constexpr int max_exponent = largest_exponent + 1;
  static constexpr int min_exponent10 = format.smallest_exponent() * 30103 / 100000;
  static constexpr int max_exponent10 = max_exponent * 30103 / 100000;

  static constexpr T min() noexcept { return code(1u << format.mantissa_bits); }
  static constexpr T max() noexcept { return code(format.largest()); }
  static constexpr T lowest() noexcept { return code(format.largest() | 1u << format.sign_shift()); }
  static constexpr T denorm_min() noexcept { return code(1); }
  static constexpr T epsilon() noexcept { return T(1.0f / static_cast<float>(1 << format.mantissa_bits)); }
  static constexpr T round_error() noexcept { return T(0.5f); }
  static constexpr T infinity() noexcept { return code(has_infinity ? format.infinity() : 0); }
  static constexpr T quiet_NaN() noexcept {
    if (has_infinity) return code(format.infinity() | 1u << (format.mantissa_bits - 1));
    return code(has_quiet_NaN ? format.magnitude_mask() : 0);
  }
  static constexpr T signaling_NaN() noexcept { return code(has_signaling_NaN ? format.infinity() | 1u : 0); }

 private:
  static constexpr T code(unsigned c) noexcept { return T::from_bits(static_cast<typename T::storage>(c)); }
};

}  // namespace troupe
