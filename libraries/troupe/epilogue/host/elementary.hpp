// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <troupe/epilogue/host/functions.hpp>

/// Elementary functions of floats, without branches and calls, so that loops over them become vector code. Each is
/// accurate to a few units in the last place of its result.
namespace troupe::epilogue::host {

/// Returns true if the fast function of the operation is accurate only for arguments up to a limit.
constexpr bool is_limited(op o) noexcept {
  return o == op::sine || o == op::cosine || o == op::tangent || o == op::modulo;
}
/// Returns true if the fast function is accurate for these arguments.
template <op What>
TROUPE_INLINE bool is_within_limit(float x, float y) noexcept {
  // Both limits keep a product exact in double: fewer than 2^20 quarter turns times the first 33 bits of pi / 2, and a
  // quotient below 2^28 times a float.
  if constexpr (What == op::modulo) return std::fabs(x) < 0x1p28f * std::fabs(y);
  return std::fabs(x) < 0x1p20f;
}

TROUPE_INLINE float fast_log(float x) noexcept {
  constexpr float smallest = std::numeric_limits<float>::min(), infinite = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  const bool is_tiny = x < smallest;
  const auto bits = std::bit_cast<std::uint32_t>(is_tiny ? x * 0x1p23f : x);
  // x = 2^n * (1 + m), with 1 + m from sqrt(1/2) to sqrt(2).
  const std::uint32_t above = bits - 0x3f3504f3u;
  const std::int32_t n = (static_cast<std::int32_t>(above) >> 23) - (is_tiny ? 23 : 0);
  const float m = std::bit_cast<float>((above & 0x7fffffu) + 0x3f3504f3u) - 1, z = m * m, e = static_cast<float>(n);
  const float p = 3.3333331174e-1f +
                  m * (-2.4999993993e-1f +
                       m * (2.0000714765e-1f +
                            m * (-1.6668057665e-1f +
                                 m * (1.4249322787e-1f +
                                      m * (-1.2420140846e-1f +
                                           m * (1.1676998740e-1f + m * (-1.1514610310e-1f + m * 7.0376836292e-2f)))))));
  const float rest = m * z * p - 2.12194440e-4f * e - 0.5f * z;
  const float y = m + rest + 0.693359375f * e;
  return x == 0 ? -infinite : x < 0 ? nan : x < infinite ? y : x;
}

/// The sine and the cosine of an argument.
struct sine_and_cosine {
  double sine, cosine;
};
/// Returns the sine and the cosine of x. Precondition: |x| < 2^20.
TROUPE_INLINE sine_and_cosine sine_cosine(float x) noexcept {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: a sum with it is rounded to an integer
  constexpr double quarter_high = 1.57079632673412561417, quarter_low = 6.07710050650619224932e-11;
  const double v = x, shifted = v * 0.63661977236758134308 + shift, whole = shifted - shift;
  const double r = v - whole * quarter_high - whole * quarter_low, z = r * r;
  const double s =
      r + r * z *
              (-0.166666666416265235595 +
               z * (0.0083333293858894631756 + z * (-0.000198393348360966317347 + z * 0.0000027183114939898219064)));
  const double c =
      1.0 + z * (-0.499999997251031003120 +
                 z * (0.0416666233237390631894 + z * (-0.00138867637746099294692 + z * 0.0000243904487962774090654)));
  const auto quarters = std::bit_cast<std::uint64_t>(shifted);
  const bool swapped = (quarters & 1) != 0;
  const double sine = swapped ? c : s, cosine = swapped ? s : c;
  return {(quarters & 2) != 0 ? -sine : sine, ((quarters + 1) & 2) != 0 ? -cosine : cosine};
}

TROUPE_INLINE float fast_erf(float x) noexcept {
  const float z = x * x;
  const float near =
      x * (1.128379165726710f +
           z * (-3.761262582423300e-1f +
                z * (1.128358514861418e-1f +
                     z * (-2.685381193529856e-2f +
                          z * (5.188327685732524e-3f + z * (-8.010193625184903e-4f + z * 7.853861353153693e-5f))))));
  const float magnitude = x < 0 ? -x : x, far = 1 - positive_erfc(magnitude);
  return magnitude < 1 ? near : x < 0 ? -far : far;
}

/// Returns 2^(y * log2(x)) in double. Precondition: x > 0.
TROUPE_INLINE double positive_power(float x, float y) noexcept {
  constexpr double shift = 6755399441055744.0;
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcdu, mantissa = (std::uint64_t{1} << 52) - 1;
  // x = 2^n * m, with m from sqrt(1/2) to sqrt(2). n is computed in the low bits of a double.
  const std::uint64_t above =
      std::bit_cast<std::uint64_t>(static_cast<double>(x)) + (std::uint64_t{1} << 62) - root_half;
  const double n = std::bit_cast<double>((above >> 52) + std::bit_cast<std::uint64_t>(shift)) - shift - 1024;
  const double m = std::bit_cast<double>((above & mantissa) + root_half), f = (m - 1) / (m + 1), q = f * f;
  const double log2 =
      n +
      f * (2.88539008177792681472 +
           q * (9.61796693925975604907e-1 +
                q * (5.77078016355585362944e-1 +
                     q * (4.12198583111132402103e-1 +
                          q * (3.20598897975325201636e-1 + q * (2.62308189252538801338e-1 + q * 2.21953083213e-1))))));
  double p = static_cast<double>(y) * log2;
  p = p < -200 ? -200 : p;
  p = p > 200 ? 200 : p;
  const double shifted = p + shift, r = (p - (shifted - shift)) * 0.693147180559945309417;
  const double e =
      1 + r * (1 + r * (0.5 + r * (1.66666666666666667e-1 +
                                   r * (4.16666666666666667e-2 +
                                        r * (8.33333333333333333e-3 +
                                             r * (1.38888888888888889e-3 +
                                                  r * (1.98412698412698413e-4 + r * 2.48015873015873016e-5)))))));
  const std::uint64_t power = std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(shift);
  return e * std::bit_cast<double>((power + 1023) << 52);
}

TROUPE_INLINE float fast_power(float x, float y) noexcept {
  constexpr float infinite = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float base = std::fabs(x);
  const auto within = static_cast<float>(positive_power(base, y));
  const float at_zero = y > 0 ? 0.0f : infinite, at_infinity = y > 0 ? infinite : 0.0f;
  float out = base == 0 ? at_zero : base == infinite ? at_infinity : within;
  const bool is_whole = std::trunc(y) == y, is_odd = is_whole & (std::trunc(y * 0.5f) != y * 0.5f);
  const bool is_negative = std::bit_cast<std::int32_t>(x) < 0;
  out = (is_negative & is_odd) ? -out : out;
  out = ((x < 0) & !is_whole & (base < infinite)) ? nan : out;
  out = ((x != x) | (y != y)) ? x + y : out;
  const bool is_one = (y == 0) | (x == 1) | ((x == -1) & (std::fabs(y) == infinite));
  return is_one ? 1.0f : out;
}

/// Returns fmod(x, y). Precondition: |x| < 2^28 * |y|.
TROUPE_INLINE float fast_modulo(float x, float y) noexcept {
  const double a = std::fabs(x), b = std::fabs(y);
  double rest = a - std::trunc(a / b) * b;
  rest = rest < 0 ? rest + b : rest;  // the quotient was rounded up to an integer
  return std::copysign(std::fabs(y) == std::numeric_limits<float>::infinity() ? std::fabs(x) : static_cast<float>(rest),
                       x);
}

TROUPE_INLINE float fast_arctangent(float y, float x) noexcept {
  constexpr float pi = 3.14159265f, infinite = std::numeric_limits<float>::infinity();
  const float a = std::fabs(x), b = std::fabs(y), high = a > b ? a : b, low = a > b ? b : a;
  const float t = low == infinite ? 1.0f : high == 0 ? 0.0f : low / high;
  const bool is_steep = t > 0.414213562f;
  const float u = is_steep ? (t - 1) / (t + 1) : t, z = u * u;
  const float near =
      u + u * z * (-3.33329491539e-1f + z * (1.99777106478e-1f + z * (-1.38776856032e-1f + z * 8.05374449538e-2f)));
  float angle = is_steep ? 0.785398163f + near : near;
  angle = b > a ? 1.57079633f - angle : angle;
  angle = std::bit_cast<std::int32_t>(x) < 0 ? pi - angle : angle;
  return ((x != x) | (y != y)) ? x + y : std::copysign(angle, y);
}

/// Returns the value of the operation, as `elementary_value_of` defines it.
template <op What>
TROUPE_INLINE float fast_elementary_value(float x, float y) noexcept {
  if constexpr (What == op::logarithm)
    return fast_log(x);
  else if constexpr (What == op::sine)
    return static_cast<float>(sine_cosine(x).sine);
  else if constexpr (What == op::cosine)
    return static_cast<float>(sine_cosine(x).cosine);
  else if constexpr (What == op::tangent) {
    const sine_and_cosine at = sine_cosine(x);
    return static_cast<float>(at.sine / at.cosine);
  } else if constexpr (What == op::error_function)
    return fast_erf(x);
  else if constexpr (What == op::power)
    return fast_power(x, y);
  else if constexpr (What == op::modulo)
    return fast_modulo(x, y);
  else if constexpr (What == op::arctangent)
    return fast_arctangent(x, y);
  else if constexpr (What == op::elu)
    return x > 0 ? x : y * fast_expm1(x < 0 ? x : x == 0 ? 0.0f : x);
  else if constexpr (What == op::d_elu)
    return x > 0 ? 1.0f : y * fast_exp(x);
  else if constexpr (What == op::logical_and)
    return ((x != 0) & (y != 0)) ? 1.0f : 0.0f;
  else if constexpr (What == op::logical_or)
    return ((x != 0) | (y != 0)) ? 1.0f : 0.0f;
  else
    return elementary_value_of(What, x, y);  // compiles to instructions, without a call
}

}  // namespace troupe::epilogue::host
