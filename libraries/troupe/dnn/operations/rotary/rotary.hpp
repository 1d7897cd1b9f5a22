// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Options of rotary.
struct rotary_options {
  std::int64_t width = 0;    ///< number of elements of a token that are rotated, even; 0: all. The others do not change
  bool interleaved = false;  ///< true if pairs are elements 2 i and 2 i + 1; otherwise i and i + width / 2
  double base = 10000;       ///< pair i is rotated by position * base^(-2 i / width)
};

/// Rotates pairs of the elements of tokens by angles that depend on their positions (rotary position embedding). The
/// last axis of x has the elements, the one before it the tokens. Positions are a vector with an element for each
/// token, or have the axes of x, each with the extent of x or 1, the last with 1. The result has the type of x if this
/// is f16, bf16 or f64, otherwise f32.
value rotary(const value& x, const value& positions, const rotary_options& o = {});
/// Rotates by angles whose cosines and sines are given, for positions that are scaled otherwise. Both have the axes of
/// x, each with the extent of x or 1, the last with width / 2; or are tokens x width / 2.
value rotary(const value& x, const value& cosines, const value& sines, const rotary_options& o = {});

}  // namespace troupe::dnn
