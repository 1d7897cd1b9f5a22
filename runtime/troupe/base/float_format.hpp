// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace troupe {

/// What becomes of a finite value too large for the target, and of an infinity.
enum class on_overflow : std::uint8_t {
  standard,  ///< what the format defines: infinity where it has one, else NaN where it has one, else its largest value
  saturate,  ///< the largest finite value of the same sign (CUDA's `satfinite`, OCP's saturating mode); NaN stays NaN
};

/// Which codes of a format are not finite numbers.
enum class special_codes : std::uint8_t {
  ieee,      ///< the highest exponent holds infinity and NaN
  nan_only,  ///< all bits set is NaN, there is no infinity (the `FN` of OCP's E4M3)
  none,      ///< every code is a finite number
};

/// A binary floating-point format of a sign, an exponent and a mantissa, at most 16 bits wide.
struct float_format {
  int exponent_bits;
  int mantissa_bits;  ///< stored ones: without the implicit leading bit
  special_codes special;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int smallest_exponent() const { return 1 - bias(); }  ///< of normal numbers, and of subnormal ones
  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  constexpr unsigned magnitude_mask() const { return (1u << sign_shift()) - 1; }
  constexpr unsigned mantissa_mask() const { return (1u << mantissa_bits) - 1; }
  /// Where the codes of `ieee` stop being finite.
  constexpr unsigned infinity() const { return magnitude_mask() & ~mantissa_mask(); }
  constexpr unsigned largest() const {
    return special == special_codes::ieee ? infinity() - 1 : magnitude_mask() - (special == special_codes::nan_only);
  }
  constexpr unsigned overflow(on_overflow choice) const {
    return choice == on_overflow::saturate || special == special_codes::none ? largest() : largest() + 1;
  }
};

/// A number taken apart without loss: when finite it is magnitude * 2^exponent. A NaN's payload is kept in `magnitude`,
/// leading bit first.
struct number_parts {
  enum class kind : std::uint8_t { finite, infinite, nan };

  enum kind kind = kind::finite;
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;

  /// Floor of the binary logarithm; only when finite and not zero.
  constexpr int leading_exponent() const { return 63 - std::countl_zero(magnitude) + exponent; }
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

/// An integer whose magnitude fits; `__int128`, which GNU modes count among the integers, does not.
template <class T>
concept small_integer = std::integral<T> && sizeof(T) <= sizeof(std::uint64_t);

template <small_integer Integer>
constexpr number_parts take_apart(Integer x) noexcept {
  const bool negative = std::is_signed_v<Integer> && x < Integer{};
  const auto wide = static_cast<std::uint64_t>(x);
  return {.negative = negative, .magnitude = negative ? std::uint64_t{0} - wide : wide};
}

/// The code of the number of `Format` nearest to `x`, ties to the even code: one rounding, whatever `x` was.
/// Zeros and NaNs keep their sign, NaNs the leading bits of their payload and become quiet. Without a NaN to give, the
/// answer to one is the largest positive number, as CUDA's conversions have it. (Where CUDA gives a NaN it gives the
/// one with all bits set and no sign; nothing should depend on which.)
template <float_format Format>
constexpr unsigned encode(const number_parts& x, on_overflow choice) noexcept {
  constexpr int mantissa_bits = Format.mantissa_bits;
  const unsigned sign = static_cast<unsigned>(x.negative) << Format.sign_shift();
  if (x.kind == number_parts::kind::nan) {
    if constexpr (Format.special == special_codes::none) return Format.largest();
    if constexpr (Format.special == special_codes::nan_only) return sign | Format.magnitude_mask();
    const auto payload = static_cast<unsigned>(x.magnitude >> (64 - mantissa_bits));
    return sign | Format.infinity() | 1u << (mantissa_bits - 1) | payload;
  }
  if (x.kind == number_parts::kind::infinite) return sign | Format.overflow(choice);
  if (x.magnitude == 0) return sign;

  const int exponent =
      x.leading_exponent() < Format.smallest_exponent() ? Format.smallest_exponent() : x.leading_exponent();
  if (exponent > Format.bias() + 1) return sign | Format.overflow(choice);
  // In units of the target's last place. A shift by 64 or more needs an exponent only floats have, and their magnitudes
  // of at most 53 bits vanish.
  const int shift = exponent - mantissa_bits - x.exponent;
  if (shift >= 64) return sign;
  std::uint64_t units = shift > 0 ? x.magnitude >> shift : x.magnitude << -shift;
  if (shift > 0) {
    const std::uint64_t rest = x.magnitude << (64 - shift);
    constexpr std::uint64_t half_way = std::uint64_t{1} << 63;
    units += rest > half_way || (rest == half_way && (units & 1) != 0);
  }
  // The implicit bit of a normal number, and a carry out of the mantissa, both count the exponent up by one.
  const unsigned code =
      static_cast<unsigned>(units) + (static_cast<unsigned>(exponent - Format.smallest_exponent()) << mantissa_bits);
  return sign | (code > Format.largest() ? Format.overflow(choice) : code);
}

/// The same, quicker, for a float and a format with the exponent of a float: only the end of the code is rounded off.
template <float_format Format>
  requires(Format.exponent_bits == 8 && Format.special == special_codes::ieee)
constexpr unsigned encode(float x, on_overflow choice) noexcept {
  constexpr int excess = 23 - Format.mantissa_bits;
  const auto code = std::bit_cast<std::uint32_t>(x);
  if ((code & 0x7fffffffu) > 0x7f800000u) return code >> excess | 1u << (Format.mantissa_bits - 1);
  // A carry goes into the exponent, and from the largest number to infinity, as it should.
  const std::uint32_t rounded = (code + (1u << (excess - 1)) - 1 + (code >> excess & 1u)) >> excess;
  const bool too_large = (rounded & Format.magnitude_mask()) == Format.infinity();
  return too_large && choice == on_overflow::saturate ? rounded - 1 : rounded;
}

/// The number a code of `Format` stands for; exact. Signalling NaNs become quiet.
template <float_format Format>
constexpr float decode(unsigned code) noexcept {
  constexpr int widening = 23 - Format.mantissa_bits;
  const std::uint32_t sign = (code >> Format.sign_shift() & 1u) << 31;
  const unsigned magnitude = code & Format.magnitude_mask();
  std::uint32_t bits = 0;
  if (Format.special == special_codes::ieee && magnitude >= Format.infinity()) {
    bits = 0x7f800000u | (magnitude & Format.mantissa_mask()) << widening;
    if (magnitude > Format.infinity()) bits |= 0x00400000u;
  } else if (Format.special == special_codes::nan_only && magnitude == Format.magnitude_mask()) {
    bits = 0x7fc00000u;
  } else {
    bits = (magnitude << widening) + (static_cast<std::uint32_t>(127 - Format.bias()) << 23);
    if constexpr (Format.exponent_bits < 8) {
      // Subnormal here, normal as a float: the product is exact in every mode of the processor.
      constexpr float unit = 1.0f / (1 << (Format.bias() - 1 + Format.mantissa_bits));
      if (magnitude <= Format.mantissa_mask())
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * unit);
    }
  }
  return std::bit_cast<float>(sign | bits);
}

}  // namespace troupe
