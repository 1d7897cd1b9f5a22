// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/cuda/problem.hpp>
#include <utility>

namespace troupe::matmul {
namespace {

// Describes a matrix for cuBLASLt. One stored row by row is the transpose of a matrix stored column by column.
stored_matrix stored(std::uint64_t address, dtype type, const batch_of_matrices& all, bool by_rows) noexcept {
  const matrix_shape s = by_rows ? all.one.transposed() : all.one;
  const std::int64_t ld = s.columns == 1 ? s.rows : s.column_stride;
  return {address, type, s.rows, s.columns, ld, all.count == 1 ? 0 : all.stride, by_rows};
}
bool has_columns(const matrix_shape& s) noexcept { return s.row_stride == 1 || s.rows == 1; }
bool has_rows(const matrix_shape& s) noexcept { return s.column_stride == 1 || s.columns == 1; }

template <class F>
std::uint64_t address_of(const F& field) noexcept {
  return field.range().address;
}

}  // namespace

problem problem_of(const multiplication& r) noexcept {
  const batch_of_matrices a = matrices_of(r.a.shape()), b = matrices_of(r.b.shape()), d = matrices_of(r.d.shape());
  problem out{};
  out.transposed = !has_columns(d.one) || (d.one.rows == 1 && has_rows(d.one));
  out.paired = r.epilogue.encoded().is_paired();
  out.batch = d.count;
  out.d = stored(address_of(r.d), r.d.type(), d, out.transposed);
  // A matrix that counts as stored in both orders is described as one whose elements along k are contiguous: tensor
  // cores need that order, or are faster with it.
  const stored_matrix left = stored(address_of(r.a), r.a.type(), a, has_rows(a.one)),
                      right = stored(address_of(r.b), r.b.type(), b, !has_columns(b.one));
  out.m = a.one.rows, out.n = b.one.columns, out.k = a.one.columns * k_per_element(r.a.type());
  out.a = left, out.b = right;
  if (r.a_scales && r.b_scales) {
    out.a_scales = scales_of(*r.a_scales, true, out.m, r.a.type());
    out.b_scales = scales_of(*r.b_scales, false, out.n, r.b.type());
  }
  if (out.transposed) {
    out.a = right, out.b = left;
    out.a.transposed = !right.transposed, out.b.transposed = !left.transposed;
    std::swap(out.m, out.n);
    std::swap(out.a_scales, out.b_scales);
  }
  return out;
}

}  // namespace troupe::matmul
