// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/problem.hpp>
#include <utility>

namespace troupe::cutlass {
namespace {

using matmul::matrices_of, matmul::batch_of_matrices, matmul::terms_in, matmul::is_float8;

bool is_narrow(dtype t) noexcept { return t == dtype::i8 || is_float8(t) || t == dtype::f4e2m1x2; }
bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

factor factor_of(const in_any& view, bool lines_are_rows) noexcept {
  const batch_of_matrices m = matrices_of(view.shape());
  factor out{view.range().address, view.type(), m.one.row_stride, m.one.column_stride, m.count == 1 ? 0 : m.stride};
  if (!lines_are_rows) std::swap(out.line, out.term);
  return out;
}

scales scales_of(const std::optional<in_any>& view, bool lines_are_rows, std::int64_t lines,
                 std::int64_t terms) noexcept {
  if (!view) return {};
  const batch_of_matrices all = matrices_of(view->shape());
  const matrix_shape s = lines_are_rows ? all.one : all.one.transposed();
  scales out{view->range().address, view->type(), s.row_stride, s.column_stride, all.count == 1 ? 0 : all.stride};
  out.terms = terms_of_block(terms, s.columns);
  if (s.rows != lines) out.lines = out.terms;
  return out;
}

}  // namespace

dtype sums_of(dtype a, dtype b) noexcept {
  if ((is_half(a) && is_narrow(b)) || (is_half(b) && is_narrow(a))) return dtype::f32;
  if (a == dtype::c64 || a == dtype::c128 || a == dtype::f4e2m1x2) return dtype{};
  return matmul::sums_of(a, b);
}

std::int64_t terms_of_block(std::int64_t terms, std::int64_t count) noexcept {
  for (std::int64_t block = 16; block < terms; block *= 2)
    if ((terms + block - 1) / block == count) return block;
  return count == 1 ? terms : 0;
}

problem problem_of(const gemm& r) {
  const batch_of_matrices a = matrices_of(r.a.shape()), b = matrices_of(r.b.shape()), d = matrices_of(r.d.shape());
  problem p;
  p.a = factor_of(r.a, true), p.b = factor_of(r.b, false);
  p.d = {r.d.range().address, r.d.type(), d.one.row_stride, d.one.column_stride, d.count == 1 ? 0 : d.stride};
  p.m = d.one.rows, p.n = d.one.columns, p.batch = d.count;
  p.k = a.one.columns * terms_in(r.a.type());
  p.a_scales = scales_of(r.a_scales, true, a.one.rows, p.k),
  p.b_scales = scales_of(r.b_scales, false, b.one.columns, p.k);
  p.sums = sums_of(r.a.type(), r.b.type());
  p.tree = r.epilogue.seen();
  p.paired = p.tree.is_paired();
  p.precision = r.precision, p.accumulation = r.accumulation;
  return p;
}

problem problem::swapped() const {
  problem p = *this;
  std::swap(p.a, p.b), std::swap(p.a_scales, p.b_scales), std::swap(p.m, p.n), std::swap(p.d.row, p.d.column);
  p.transposed = !transposed;
  return p;
}

placed_matrix problem::memory(std::size_t i, const epilogue::node& n) const {
  using epilogue::op, epilogue::span_of;
  const epilogue::tree_memory& m = tree.memory()[i];
  const std::int64_t before = first * m.batch_stride * static_cast<std::int64_t>(bytes_of(m.type));
  placed_matrix out{m.address + static_cast<std::uint64_t>(before), m.type, m.shape.row_stride, m.shape.column_stride,
                    m.batch_stride};
  const bool reduces = n.what == op::reduce;
  if (n.what == op::load_row || n.what == op::load_number || (reduces && n.over != span_of::row)) out.row = 0;
  if (n.what == op::load_column || n.what == op::load_number || (reduces && n.over != span_of::column)) out.column = 0;
  if (transposed) std::swap(out.row, out.column);
  return out;
}

}  // namespace troupe::cutlass
