// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <bit>
#include <cstdint>
#include <troupe/base/numbers/number_parts.hpp>

namespace troupe {

/// The result for a finite value that is too large for the target format, and for an infinity.
enum class on_overflow : std::uint8_t {
  standard,  ///< infinity if the format has one, else NaN if it has one, else the largest value
  saturate,  ///< the largest finite value of the same sign (CUDA's `satfinite`, OCP's saturating mode); NaN stays NaN
};

/// The codes of a format that are not finite numbers.
enum class special_codes : std::uint8_t {
  ieee,      ///< the highest exponent holds infinity and NaN
  nan_only,  ///< all bits set is NaN; no infinity (the `FN` of OCP's E4M3)
  none,      ///< none: every code is a finite number
};

/// A binary floating-point format with a sign, an exponent and a mantissa, at most 16 bits wide.
struct float_format {
  int exponent_bits;
  int mantissa_bits;  ///< as stored, without the implicit leading bit
  special_codes special;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int smallest_exponent() const { return 1 - bias(); }  ///< of normal numbers; subnormal ones share it
  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
  constexpr unsigned magnitude_mask() const { return (1u << sign_shift()) - 1; }
  constexpr unsigned mantissa_mask() const { return (1u << mantissa_bits) - 1; }
  /// The code of infinity in an `ieee` format.
  constexpr unsigned infinity() const { return magnitude_mask() & ~mantissa_mask(); }
  constexpr unsigned largest() const {
    return special == special_codes::ieee ? infinity() - 1 : magnitude_mask() - (special == special_codes::nan_only);
  }
  constexpr unsigned overflow(on_overflow choice) const {
    return choice == on_overflow::saturate || special == special_codes::none ? largest() : largest() + 1;
  }
};

/// Returns the code of the number of `Format` nearest to `x`, ties to the even code, with one rounding. Zeros and NaNs
/// keep their sign; NaNs keep the leading bits of their payload and become quiet. If the format has no NaN, a NaN
/// becomes the largest positive number, as in CUDA. (CUDA produces a NaN with all bits set and no sign, so do not
/// depend on the bits of a NaN.)
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
  // `units` counts in the target's last place. Only floats have exponents that make `shift` 64 or more; their
  // magnitudes have at most 53 bits, so the result is zero.
  const int shift = exponent - mantissa_bits - x.exponent;
  if (shift >= 64) return sign;
  std::uint64_t units = shift > 0 ? x.magnitude >> shift : x.magnitude << -shift;
  if (shift > 0) {
    const std::uint64_t rest = x.magnitude << (64 - shift);
    constexpr std::uint64_t half_way = std::uint64_t{1} << 63;
    units += rest > half_way || (rest == half_way && (units & 1) != 0);
  }
  // The implicit bit of a normal number, and a carry out of the mantissa, each add one to the exponent.
  const unsigned code =
      static_cast<unsigned>(units) + (static_cast<unsigned>(exponent - Format.smallest_exponent()) << mantissa_bits);
  return sign | (code > Format.largest() ? Format.overflow(choice) : code);
}

/// A faster version for formats with the exponent of a float, whose codes are the upper bits of a float's.
template <float_format Format>
  requires(Format.exponent_bits == 8 && Format.special == special_codes::ieee)
constexpr unsigned encode(float x, on_overflow choice) noexcept {
  constexpr int excess = 23 - Format.mantissa_bits;
  const auto code = std::bit_cast<std::uint32_t>(x);
  if ((code & 0x7fffffffu) > 0x7f800000u) return code >> excess | 1u << (Format.mantissa_bits - 1);
  // A carry increments the exponent, and turns the largest number into infinity, as it should.
  const std::uint32_t rounded = (code + (1u << (excess - 1)) - 1 + (code >> excess & 1u)) >> excess;
  const bool too_large = (rounded & Format.magnitude_mask()) == Format.infinity();
  return too_large && choice == on_overflow::saturate ? rounded - 1 : rounded;
}

/// Returns the number that a code stands for, exactly. Signaling NaNs become quiet.
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
      // A subnormal number of this format is a normal float: the product is exact in every rounding mode.
      constexpr float unit = 1.0f / (1 << (Format.bias() - 1 + Format.mantissa_bits));
      if (magnitude <= Format.mantissa_mask())
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * unit);
    }
  }
  return std::bit_cast<float>(sign | bits);
}

}  // namespace troupe
