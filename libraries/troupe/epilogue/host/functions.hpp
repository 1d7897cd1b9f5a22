// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <troupe/base/processor/for_each_processor.hpp>
#include <troupe/epilogue/op_definitions.hpp>

/// Functions of floats for epilogues, without branches and calls, so that loops over them become vector code. Each is
/// accurate to a few units in the last place of its result, or of 1 if the result is less than 1.
namespace troupe::epilogue::host {

/// A power of two with an integer exponent, as two factors: their product with a small number is in range even if the
/// power itself is not.
struct power_of_two {
  float first, second;
};

/// Splits x = n * log(2) + rest with an integer n and |rest| <= log(2) / 2; returns 2^n. Precondition: |x| <= 174, so
/// that both factors are normal numbers.
TROUPE_INLINE power_of_two split(float x, float& rest) noexcept {
  constexpr float per_log2 = 1.44269504f, log2_high = 0.693359375f, log2_low = -2.12194440e-4f;
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: a sum with it is rounded to an integer, in its low bits
  const float shifted = x * per_log2 + shift;
  const float whole = shifted - shift;
  rest = x - whole * log2_high - whole * log2_low;
  const std::uint32_t n = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(shift);
  const auto half = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) >> 1);
  return {std::bit_cast<float>((half + 127) << 23), std::bit_cast<float>((n - half + 127) << 23)};
}

/// Returns exp(x) - 1. Precondition: |x| <= log(2) / 2.
TROUPE_INLINE float small_expm1(float x) noexcept {
  return x + x * x *
                 (0.5f + x * (1.66666667e-1f +
                              x * (4.16666667e-2f + x * (8.33333333e-3f + x * (1.38888889e-3f + x * 1.98412698e-4f)))));
}

TROUPE_INLINE float limited(float x, float low, float high) noexcept {
  x = x < low ? low : x;  // NaN stays
  return x > high ? high : x;
}

TROUPE_INLINE float fast_exp(float x) noexcept {
  float rest;
  const power_of_two p = split(limited(x, -104, 89), rest);
  return (1 + small_expm1(rest)) * p.first * p.second;
}

/// Returns exp(x) - 1. Precondition: x <= 80.
TROUPE_INLINE float fast_expm1(float x) noexcept {
  float rest;
  const power_of_two p = split(limited(x, -40, 80), rest);
  const float power = p.first * p.second;
  return power * small_expm1(rest) + (power - 1);
}

TROUPE_INLINE float fast_sigmoid(float x) noexcept { return 1 / (1 + fast_exp(-x)); }

TROUPE_INLINE float fast_tanh(float x) noexcept {
  const float e = fast_expm1(2 * x);
  return e / (e + 2);
}

/// The values of sigmoid(x) and its derivative, both accurate far from 0.
struct sigmoid_at {
  float value, derivative;
};
TROUPE_INLINE sigmoid_at steep_sigmoid(float x) noexcept {
  const float e = fast_exp(x < 0 ? x : -x), above = 1 / (1 + e), below = e * above;
  return {x < 0 ? below : above, below * above};
}

/// Returns log(1 + x) as 2 * atanh(x / (2 + x)). Precondition: 0 <= x <= 1.
TROUPE_INLINE float small_log1p(float x) noexcept {
  const float s = x / (2 + x), q = s * s;
  return 2 * s *
         (1 + q * (3.33333333e-1f +
                   q * (0.2f + q * (1.42857143e-1f +
                                    q * (1.11111111e-1f +
                                         q * (9.09090909e-2f + q * (7.69230769e-2f + q * 6.66666667e-2f)))))));
}

/// Returns erfc(z) as t * exp(p(t) - z^2) with t = 1 / (1 + z / 2). The polynomial p is fitted for z <= 11.
/// Precondition: z >= 0.
TROUPE_INLINE float positive_erfc(float z) noexcept {
  z = limited(z, 0, 11);
  const float t = 1 / (1 + 0.5f * z);
  const float p =
      -1.26547553f + t * (9.99213058e-1f +
                          t * (3.81488548e-1f +
                               t * (5.99563396e-2f +
                                    t * (-7.51989204e-2f +
                                         t * (6.68377631e-2f +
                                              t * (-8.77499800e-1f +
                                                   t * (1.29511839f + t * (-7.40447485e-1f + t * 1.56007701e-1f))))))));
  return t * fast_exp(p - z * z);
}

/// Returns the cumulative normal distribution at x.
TROUPE_INLINE float normal_below(float x) noexcept {
  constexpr float root_half = 0.707106781f;
  const float tail = 0.5f * positive_erfc((x < 0 ? -x : x) * root_half);
  return x < 0 ? tail : 1 - tail;
}

TROUPE_INLINE float gelu_inner(float x) noexcept { return 0.797884561f * (x + 0.044715f * x * x * x); }

/// Returns the value of the operation, as `value_of` defines it.
template <op What>
TROUPE_INLINE float fast_value(float x, float y, float z) noexcept {
  if constexpr (What == op::exponential)
    return fast_exp(x);
  else if constexpr (What == op::absolute)
    return x < 0 ? -x : x == 0 ? 0.0f : x;
  else if constexpr (What == op::gelu)
    return x * normal_below(x);
  else if constexpr (What == op::gelu_tanh)
    return x / (1 + fast_exp(-2 * gelu_inner(x)));
  else if constexpr (What == op::silu)
    return x / (1 + fast_exp(-x));
  else if constexpr (What == op::tanh)
    return fast_tanh(x);
  else if constexpr (What == op::sigmoid || What == op::d_softplus)
    return fast_sigmoid(x);
  else if constexpr (What == op::softplus)
    return (x < 0 ? 0 : x) + small_log1p(fast_exp(x < 0 ? x : -x));
  else if constexpr (What == op::d_gelu)
    return normal_below(x) + x * 0.398942280f * fast_exp(-0.5f * x * x);
  else if constexpr (What == op::d_gelu_tanh) {
    const sigmoid_at s = steep_sigmoid(2 * gelu_inner(x));
    return s.value + x * s.derivative * 1.59576912f * (1 + 0.134145f * x * x);
  } else if constexpr (What == op::d_silu) {
    const sigmoid_at s = steep_sigmoid(x);
    return s.value + x * s.derivative;
  } else if constexpr (What == op::d_tanh) {
    return 4 * steep_sigmoid(2 * x).derivative;
  } else if constexpr (What == op::d_sigmoid) {
    return steep_sigmoid(x).derivative;
  } else if constexpr (What == op::hard_swish) {
    return (x < -3 ? -3 : x) * limited(x + 3, 0, 6) / 6;
  } else if constexpr (What == op::d_hard_swish) {
    const float inside = (2 * x + 3) / 6;
    return x <= -3 ? 0 : x >= 3 ? 1 : inside;
  } else if constexpr (What == op::minimum) {
    return x < y || x != x ? x : y;
  } else if constexpr (What == op::maximum) {
    return x > y || x != x ? x : y;
  } else {
    return value_of(What, x, y, z);  // compiles to instructions, without a call
  }
}

}  // namespace troupe::epilogue::host
