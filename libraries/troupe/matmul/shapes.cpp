// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/matmul/shapes.hpp>

namespace troupe::matmul {

block_scales scales_of(const in_any& view, bool lines_are_rows, std::int64_t lines, dtype elements) noexcept {
  const batch_of_matrices all = matrices_of(view.shape());
  const matrix_shape s = lines_are_rows ? all.one : all.one.transposed();
  block_scales out{.address = view.range().address,
                   .type = view.type(),
                   .block = block_of(view.type(), elements),
                   .k_blocks = s.columns,
                   .line_blocks = s.rows,
                   .k_stride = s.column_stride,
                   .line_stride = s.row_stride,
                   .batch_stride = all.count == 1 ? 0 : all.stride};
  if (out.type == dtype::f32 && s.rows != lines) out.block.lines = out.block.k;
  return out;
}

}  // namespace troupe::matmul
