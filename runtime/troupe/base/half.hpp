// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/numbers/narrow_float.hpp>

namespace troupe {

/// IEEE 754 binary16: 5 exponent and 10 mantissa bits. The largest finite value is 65504, the smallest positive one
/// 2^-24. A value out of range becomes infinity.
struct half : narrow_float_base<half, float_format{5, 10, special_codes::ieee}> {
  using narrow_float_base::narrow_float_base;
};

}  // namespace troupe

template <>
struct std::numeric_limits<troupe::half> : troupe::narrow_float_limits<troupe::half> {};
