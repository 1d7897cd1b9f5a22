// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the operations of an epilogue compute: their definitions, and for frequent ones of f32, what the GPU computes
// faster within the accuracy that docs/epilogues.md states.
#include <troupe/epilogue/meaning.hpp>

namespace troupe::cutlass::kernels {

using epilogue::op;

// e to the power of x: 2 units in the last place, and 0 where the result would be subnormal.
__device__ __forceinline__ float fast_exponential(float x) {
  // In two parts, because the rounding of x * log2(e) alone would cost up to 7 bits.
  const float t = x * 1.4426950408889634f, rest = fmaf(x, 1.4426950408889634f, -t) + x * 1.925963033500e-8f;
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(t));
  return fabsf(t) < 126.f ? fmaf(out * rest, 0.69314718055994531f, out) : out;
}
__device__ __forceinline__ float fast_reciprocal(float x) {
  float out;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
__device__ __forceinline__ float fast_sigmoid(float x) { return fast_reciprocal(1.f + fast_exponential(-x)); }
__device__ __forceinline__ float fast_tanh(float x) {
  const float m = fabsf(x);
  // Near 0, 1 - 2 / (e^2x + 1) would lose bits.
  const float square = m * m;
  const float near =
      m * (1.f + square * (-0.333333333f + square * (0.133333333f + square * (-0.053968254f + square * 0.021869489f))));
  const float far = 1.f - 2.f * fast_reciprocal(fast_exponential(2.f * m) + 1.f);
  return copysignf(m < 0.25f ? near : far, x);
}

template <op What, class N>
__device__ __forceinline__ N value_of(N x, N y = 0, N z = 0) {
  if constexpr (sizeof(N) == 4) {
    if constexpr (What == op::exponential) return x < -87.f || !(x < 88.f) ? expf(x) : fast_exponential(x);
    if constexpr (What == op::sigmoid) return fast_sigmoid(x);
    if constexpr (What == op::silu) return x < -80.f ? epilogue::value_of<N>(op::silu, x) : x * fast_sigmoid(x);
    if constexpr (What == op::tanh) return fast_tanh(x);
    if constexpr (What == op::gelu_tanh)
      return 0.5f * x * (1.f + fast_tanh(0.79788456080286535588f * (x + 0.044715f * x * x * x)));
  }
  return epilogue::value_of<N>(What, x, y, z);
}

}  // namespace troupe::cutlass::kernels
