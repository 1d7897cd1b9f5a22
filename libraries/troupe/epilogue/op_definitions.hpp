// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <troupe/epilogue/elementary.hpp>
#include <troupe/epilogue/host_device.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::epilogue {

/// Returns erfc(x), with a relative error of at most 5e-7. CUDA's erfcf takes a third more instructions, with which
/// gelu of half types is slower than the memory. The polynomial in t is erfc(z) * exp(z * z) / t.
TROUPE_HOST_DEVICE float fast_erfc(float x) noexcept {
  const float magnitude = std::fabs(x), z = magnitude > 11 ? 11 : magnitude;  // NaN stays NaN
#ifdef __CUDA_ARCH__
  const float t = __fdividef(1, fmaf(0.5f, z, 1.f));
#else
  const float t = 1 / fmaf(0.5f, z, 1.f);
#endif
  constexpr float polynomial[] = {-0x1.e61912p-5f, 0x1.24d7dap-2f, -0x1.f60aecp-2f, 0x1.208106p-2f, -0x1.deec1cp-6f,
                                  0x1.a16314p-3f,  0x1.f14dc2p-3f, 0x1.2130c6p-2f,  0x1.20dabcp-2f};
  float p = polynomial[0];
  for (int i = 1; i < 9; ++i) p = fmaf(p, t, polynomial[i]);
  const float square = z * z, rest = fmaf(z, z, -square), product = p * t;
  const float out = fmaf(-rest, product, product) * std::exp(-square);
  return x < 0 ? 2 - out : out;
}
/// Returns erfc(x): on a GPU, for float, by `fast_erfc`.
template <class N>
TROUPE_HOST_DEVICE N erfc_of(N x) noexcept {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(N) == sizeof(float))
    return fast_erfc(x);
  else
#endif
    return std::erfc(x);
}

/// Returns the value at x of an operation that is a derivative of an activation.
template <class N>
TROUPE_HOST_DEVICE N derivative_of(op what, N x) noexcept {
  constexpr N half = N(0.5), root_half = N(0.70710678118654752440), root_2_by_pi = N(0.79788456080286535588),
              cubic = N(0.044715), density = N(0.39894228040143267794);
  const auto sigmoid = [](N v) { return N(1) / (N(1) + std::exp(-v)); };
  switch (what) {
    case op::d_relu:
      return x > 0 ? N(1) : x <= 0 ? N(0) : x;
    case op::d_gelu:
      return half * erfc_of(-x * root_half) + x * density * std::exp(-half * x * x);
    case op::d_gelu_tanh: {
      const N t = std::tanh(root_2_by_pi * (x + cubic * x * x * x));
      return half * (N(1) + t) + half * x * (N(1) - t * t) * root_2_by_pi * (N(1) + 3 * cubic * x * x);
    }
    case op::d_silu: {
      const N s = sigmoid(x);
      return s * (N(1) + x * (N(1) - s));
    }
    case op::d_tanh: {
      const N t = std::tanh(x);
      return N(1) - t * t;
    }
    case op::d_sigmoid: {
      const N s = sigmoid(x);
      return s * (N(1) - s);
    }
    case op::d_softplus:
      return sigmoid(x);
    case op::d_hard_swish:
      return x <= -3 ? N(0) : x >= 3 ? N(1) : (2 * x + 3) / 6;
    default:
      return x;
  }
}

/// Returns the value of an operation; this function defines it. N is float or double. A comparison with NaN is false, a
/// NaN as a truth value is true, and `power` returns what std::pow does. All other operations propagate NaN.
template <class N>
TROUPE_HOST_DEVICE N value_of(op what, N x, N y = 0, N z = 0) noexcept {
  constexpr N half = N(0.5), root_half = N(0.70710678118654752440), root_2_by_pi = N(0.79788456080286535588),
              cubic = N(0.044715);
  switch (what) {
    case op::negate:
      return -x;
    case op::absolute:
      return std::fabs(x);
    case op::sign:
      return x > 0 ? N(1) : x < 0 ? N(-1) : x;
    case op::exponential:
      return std::exp(x);
    case op::relu:
      return x < 0 ? N(0) : x;
    case op::gelu:
      return half * x * erfc_of(-x * root_half);
    case op::gelu_tanh:
      return half * x * (N(1) + std::tanh(root_2_by_pi * (x + cubic * x * x * x)));
    case op::silu:
      return x / (N(1) + std::exp(-x));
    case op::tanh:
      return std::tanh(x);
    case op::sigmoid:
      return N(1) / (N(1) + std::exp(-x));
    case op::softplus:
      return (x > 0 ? x : N(0)) + std::log1p(std::exp(-std::fabs(x)));
    case op::hard_swish:
      return x <= -3 ? N(0) : x >= 3 ? x : x * (x + 3) / 6;
    case op::add:
      return x + y;
    case op::subtract:
      return x - y;
    case op::multiply:
      return x * y;
    case op::divide:
      return x / y;
    case op::minimum:
      return x < y || std::isnan(x) ? x : y;
    case op::maximum:
      return x > y || std::isnan(x) ? x : y;
    case op::leaky_relu:
      return x < 0 ? y * x : x;
    case op::equal:
      return x == y ? N(1) : N(0);
    case op::less:
      return x < y ? N(1) : N(0);
    case op::less_equal:
      return x <= y ? N(1) : N(0);
    case op::select:
      return x != 0 ? y : z;
    case op::d_leaky_relu:
      return x > 0 ? N(1) : x <= 0 ? y : x;
    default:
      if (what >= op::d_relu && what <= op::d_hard_swish) return derivative_of(what, x);
      if (what > op::reduce) return elementary_value_of(what, x, y);
      return x;  // `store` and `reduce` return their argument
  }
}

/// Returns the initial value of a reduction, which is its result for no values.
TROUPE_HOST_DEVICE double start_of(reduction how) noexcept {
  return how == reduction::maximum ? -std::numeric_limits<double>::infinity() : 0;
}

}  // namespace troupe::epilogue
