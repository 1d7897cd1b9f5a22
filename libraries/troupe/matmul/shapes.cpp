// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/matmul/shapes.hpp>

namespace troupe::matmul {

block_scales scales_in(const in_any& view, bool lines_are_rows) noexcept {
  const batch_of_matrices all = matrices_of(view.shape());
  const matrix_shape s = lines_are_rows ? all.one : all.one.transposed();
  return {.address = view.range().address,
          .type = view.type(),
          .k_blocks = s.columns,
          .line_blocks = s.rows,
          .k_stride = s.column_stride,
          .line_stride = s.row_stride,
          .batch_stride = all.count == 1 ? 0 : all.stride};
}

block_scales scales_of(const in_any& view, bool lines_are_rows, std::int64_t lines, dtype elements) noexcept {
  block_scales out = scales_in(view, lines_are_rows);
  out.set_block(block_of(view.type(), elements).k, lines);
  return out;
}

}  // namespace troupe::matmul
