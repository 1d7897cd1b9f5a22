// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <troupe/epilogue/host_device.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::epilogue {

/// Returns the value of an operation that `op` lists after `reduce`. Called by `value_of`, which defines all others.
template <class N>
TROUPE_HOST_DEVICE_NOINLINE N elementary_value_of(op what, N x, N y) noexcept {
  switch (what) {
    case op::square_root:
      return std::sqrt(x);
    case op::logarithm:
      return std::log(x);
    case op::sine:
      return std::sin(x);
    case op::cosine:
      return std::cos(x);
    case op::tangent:
      return std::tan(x);
    case op::error_function:
      return std::erf(x);
    case op::floor:
      return std::floor(x);
    case op::ceiling:
      return std::ceil(x);
    case op::nearest_whole:
      return std::nearbyint(x);  // ties to even
    case op::power:
      return std::pow(x, y);
    case op::modulo:
      return std::fmod(x, y);
    case op::arctangent:
      return std::atan2(x, y);
    case op::elu:
      return x > 0 ? x : y * std::expm1(x);
    case op::d_elu:
      return x > 0 ? N(1) : y * std::exp(x);
    case op::logical_and:
      return x != 0 && y != 0 ? N(1) : N(0);
    case op::logical_or:
      return x != 0 || y != 0 ? N(1) : N(0);
    default:
      return x;
  }
}

}  // namespace troupe::epilogue
