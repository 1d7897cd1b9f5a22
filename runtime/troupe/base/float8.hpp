// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/numbers/narrow_float.hpp>

namespace troupe {

/// OCP E4M3 (`E4M3FN`): 4 exponent and 3 mantissa bits. The largest value is 448, the smallest positive one 2^-9; 0x7f
/// and 0xff are NaN; there is no infinity. A value that rounds beyond 448, or infinity, becomes NaN; 464, half way to
/// the next number, rounds to 448. `saturate_cast` returns 448 for all of these, as CUDA's own types do.
struct float8_e4m3 : narrow_float_base<float8_e4m3, float_format{4, 3, special_codes::nan_only}> {
  using narrow_float_base::narrow_float_base;
};

/// OCP E5M2: 5 exponent and 2 mantissa bits, with infinities and NaNs as in IEEE 754. The largest finite value is
/// 57344, the smallest positive one 2^-16. A value out of range becomes infinity; `saturate_cast` returns 57344, for
/// infinity too.
struct float8_e5m2 : narrow_float_base<float8_e5m2, float_format{5, 2, special_codes::ieee}> {
  using narrow_float_base::narrow_float_base;
};

}  // namespace troupe

template <>
struct std::numeric_limits<troupe::float8_e4m3> : troupe::narrow_float_limits<troupe::float8_e4m3> {};
template <>
struct std::numeric_limits<troupe::float8_e5m2> : troupe::narrow_float_limits<troupe::float8_e5m2> {};
