// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/options.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <troupe/request/request.hpp>

namespace troupe::cutlass {

/// Stores a matrix, or a batch of them, as a factor B of `gemm`: `from` is k x n of f32, f16 or bf16, and `packed` has
/// the same extents, or half of the rows if it holds f4e2m1x2, whose elements have two terms each.
///
/// For f32, f16 and bf16, elements are rounded, and there are no scales. For i8, f8e4m3, f8e5m2 and f4e2m1x2, they are
/// divided by the scale of their block and rounded to the nearest value of the type, ties to even. `scales` is
/// blocks x n, of f32 or bf16, as `gemm` takes it: one scale for 16, 32, 64 ... or all terms of a column. A scale is
/// the block's largest magnitude divided by the type's largest value (127, 448, 57344 or 6), in f32. A block with a NaN
/// or an infinity has the scale NaN and elements 0, so that products with it are NaN.
struct pack {
  in_any from;
  out_any packed;
  std::optional<out_any> scales = {};
  /// True if the whole memory of `packed` and `scales` becomes valid, including the gaps between and after their
  /// columns, whose content is then unspecified. If false, the gaps keep their content, and stay stale if they were
  /// stale.
  bool replaces_all = false;
  TROUPE_REQUEST("cutlass.pack", from, packed, scales, replaces_all)
  void check(checker&) const;
};

}  // namespace troupe::cutlass
