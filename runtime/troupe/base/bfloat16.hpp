// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/numbers/narrow_float.hpp>

namespace troupe {

/// The upper half of a float: 8 exponent and 7 mantissa bits. The largest finite value is about 3.39e38, the smallest
/// positive one 2^-133. A value out of range becomes infinity.
struct bfloat16 : narrow_float_base<bfloat16, float_format{8, 7, special_codes::ieee}> {
  using narrow_float_base::narrow_float_base;
};

}  // namespace troupe

template <>
struct std::numeric_limits<troupe::bfloat16> : troupe::narrow_float_limits<troupe::bfloat16> {};
