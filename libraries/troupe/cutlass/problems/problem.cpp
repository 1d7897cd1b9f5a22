// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/problems/problem.hpp>
#include <utility>

namespace troupe::cutlass {
namespace {

using matmul::matrices_of, matmul::batch_of_matrices, matmul::k_per_element, matmul::is_float8;

bool is_narrow(dtype t) noexcept { return t == dtype::i8 || is_float8(t) || t == dtype::f4e2m1x2; }
bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

factor factor_of(const in_any& view, bool lines_are_rows) noexcept {
  const batch_of_matrices m = matrices_of(view.shape());
  factor out{view.range().address, view.type(), m.one.row_stride, m.one.column_stride, m.count == 1 ? 0 : m.stride};
  if (!lines_are_rows) std::swap(out.line, out.term);
  return out;
}

matmul::block_scales scales_of(const in_any* view, bool lines_are_rows, std::int64_t lines,
                               std::int64_t terms) noexcept {
  if (!view) return {};
  matmul::block_scales out = matmul::scales_in(*view, lines_are_rows);
  out.set_block(terms_of_block(terms, out.k_blocks), lines);
  return out;
}

struct operands {
  const in_any &a, &b;
  const out_any& d;
  const in_any *a_scales, *b_scales;
};
const in_any* address_of(const std::optional<in_any>& o) noexcept { return o ? &*o : nullptr; }

template <class R>
problem problem_from(const R& r, const operands& o) {
  const batch_of_matrices a = matrices_of(o.a.shape()), b = matrices_of(o.b.shape()), d = matrices_of(o.d.shape());
  problem p;
  p.a = factor_of(o.a, true), p.b = factor_of(o.b, false);
  p.d = {o.d.range().address, o.d.type(), d.one.row_stride, d.one.column_stride, d.count == 1 ? 0 : d.stride};
  p.m = d.one.rows, p.n = d.one.columns, p.batch = d.count;
  p.k = a.one.columns * k_per_element(o.a.type());
  p.a_scales = scales_of(o.a_scales, true, a.one.rows, p.k),
  p.b_scales = scales_of(o.b_scales, false, b.one.columns, p.k);
  p.sums = sums_of(o.a.type(), o.b.type());
  p.tree = r.epilogue.encoded();
  p.paired = p.tree.is_paired();
  p.options = r.options;
  return p;
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
  return problem_from(r, {r.a, r.b, r.d, address_of(r.a_scales), address_of(r.b_scales)});
}

problem problem_of(const gemm_batched& r, std::size_t i) {
  problem p = problem_from(r, {r.a[i], r.b[i], r.d[i], r.a_scales.empty() ? nullptr : &r.a_scales[i],
                               r.b_scales.empty() ? nullptr : &r.b_scales[i]});
  p.first = static_cast<std::int64_t>(i);
  return p;
}

problem problem_of(const gemm_grouped& r) {
  problem p = problem_from(r, {r.a, r.b, r.d, address_of(r.a_scales), address_of(r.b_scales)});
  p.groups = {r.sizes.range().address, r.a.shape().rank == 2};
  p.batch = r.b.shape().extents[0];
  return p;
}

problem problem::swapped() const {
  problem p = *this;
  std::swap(p.a, p.b), std::swap(p.a_scales, p.b_scales), std::swap(p.m, p.n), std::swap(p.d.row, p.d.column);
  p.transposed = !transposed;
  return p;
}

problem problem::crossed() const {
  problem p = *this;
  std::swap(p.a, p.b), std::swap(p.a_scales, p.b_scales);
  return p;
}

placed_matrix problem::memory(std::size_t i, const epilogue::node& n) const {
  const epilogue::memory_operand& m = tree.memory()[i];
  const std::int64_t before = first * m.batch_stride * static_cast<std::int64_t>(bytes_of(m.type));
  placed_matrix out{m.address + static_cast<std::uint64_t>(before), m.type, m.shape.row_stride, m.shape.column_stride,
                    m.batch_stride};
  if (!is_tall(n)) out.row = 0;
  if (!is_wide(n)) out.column = 0;
  if (transposed) std::swap(out.row, out.column);
  return out;
}

}  // namespace troupe::cutlass
