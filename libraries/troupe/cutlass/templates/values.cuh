// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values of an epilogue's operations: their definitions and, for frequent f32 operations, faster computations on the
// GPU within the accuracy that docs/epilogues.md states.
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::cutlass::kernels {

using epilogue::op;

// Returns e^x for x between -87 and 88, within 2 units in the last place.
__device__ __forceinline__ float fast_exponential(float x) {
  // The exponent is x * log2(e) in two parts: rounding the product to one float would cost up to 7 bits.
  const float t = x * 1.4426950408889634f, rest = fmaf(x, 1.4426950408889634f, -t) + x * 1.925963033500e-8f;
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(t));
  return fmaf(out * rest, 0.69314718055994531f, out);
}
__device__ __forceinline__ float fast_reciprocal(float x) {
  float out;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
// Returns 2^x within 2 units in the last place; 0 or infinity beyond the range of a float.
__device__ __forceinline__ float power_of_two(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
// Returns 1 / (1 + 2^x). The following functions have an error of at most 2.5e-7 times the larger of 1 and their value,
// and no branches. Infinity and NaN are as in the definitions, but gelu of minus infinity is 0, its limit.
__device__ __forceinline__ float fast_logistic(float x) { return fast_reciprocal(1.f + power_of_two(x)); }
constexpr float log2_of_e = 1.4426950408889634f;
__device__ __forceinline__ float fast_sigmoid(float x) { return fast_logistic(-log2_of_e * x); }
__device__ __forceinline__ float fast_tanh(float x) { return fmaf(2.f, fast_logistic(-2.f * log2_of_e * x), -1.f); }
__device__ __forceinline__ float fast_gelu_tanh(float x) {
  // x * sigmoid(2 u), u = sqrt(2 / pi) * (x + 0.044715 x^3)
  constexpr float first = -2.f * log2_of_e * 0.79788456080286535588f, third = 0.044715f * first;
  return x * fast_logistic(x * fmaf(third, x * x, first));
}
__device__ __forceinline__ float fast_gelu(float x) {
  // The probability of a normal variable beyond |x| is t * polynomial(t) * e^(-x^2 / 2), t = 1 / (1 + c |x|). See
  // Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
  const float m = fabsf(x), t = fast_reciprocal(fmaf(0.23164189f, m, 1.f));
  float q = fmaf(0.5307027145f, t, -0.7265760135f);
  q = fmaf(q, t, 0.7107068705f);
  q = fmaf(q, t, -0.142248368f);
  q = fmaf(q, t, 0.127414796f);
  q = q * t * power_of_two(-0.5f * log2_of_e * x * x);
  // Infinity times 0 would be NaN.
  return fmaf(-fminf(m, 1e10f), q, fmaxf(x, 0.f));
}

template <op What, class N>
__device__ __forceinline__ N value_of(N x, N y = 0, N z = 0) {
  if constexpr (sizeof(N) == 4) {
    if constexpr (What == op::exponential) return x < -87.f || !(x < 88.f) ? expf(x) : fast_exponential(x);
    if constexpr (What == op::sigmoid) return fast_sigmoid(x);
    if constexpr (What == op::silu) return x * fast_sigmoid(x);
    if constexpr (What == op::tanh) return fast_tanh(x);
    if constexpr (What == op::gelu_tanh) return fast_gelu_tanh(x);
    if constexpr (What == op::gelu) return fast_gelu(x);
  }
  return epilogue::value_of<N>(What, x, y, z);
}

}  // namespace troupe::cutlass::kernels
