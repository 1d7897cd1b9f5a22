// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/pack_problem.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::cutlass {
namespace {

using matmul::batch_of_matrices, matmul::matrices_of, matmul::k_per_element;

template <class F>
bool has_rank(checker& c, const F& field) {
  const std::size_t rank = field.shape().rank;
  if (rank == 2 || rank == 3) return true;
  c.refuse(&field, "has " + counted(rank, "axis", "axes"), "2, or 3 for a batch of matrices");
  return false;
}
template <class F>
bool has_extents(checker& c, const F& field, const batch_of_matrices& is, std::int64_t rows,
                 const batch_of_matrices& from) {
  if (is.one.rows == rows && is.one.columns == from.one.columns && is.count == from.count) return true;
  c.refuse(&field, "is " + troupe::detail::extents_text(field.shape()),
           cat(from.count == 1 ? "" : cat(from.count, " x "), rows, " x ", from.one.columns, ", as from is"));
  return false;
}

template <class F>
factor columns_of(const F& view) noexcept {
  const batch_of_matrices m = matrices_of(view.shape());
  return {view.range().address, view.type(), m.one.column_stride, m.one.row_stride, m.count == 1 ? 0 : m.stride};
}

void check_scales(checker& c, const pack& r, const batch_of_matrices& from) {
  if (!is_quantized(r.packed.type())) {
    if (r.scales)
      c.refuse(&*r.scales, cat("is given for ", to_string(r.packed.type())), "none: its elements are not scaled");
    return;
  }
  if (!r.scales)
    return c.refuse(&r.scales, cat("is not given for ", to_string(r.packed.type())),
                    "f32 or bf16: a scale for each block of its elements");
  const out_any& scales = *r.scales;
  if (scales.type() != dtype::f32 && scales.type() != dtype::bf16)
    return c.refuse(&scales, cat("holds ", to_string(scales.type())), "f32 or bf16");
  if (!has_rank(c, scales)) return;
  const batch_of_matrices s = matrices_of(scales.shape());
  if (terms_of_block(from.one.rows, s.one.rows) == 0)
    return c.refuse(&scales, "is " + troupe::detail::extents_text(scales.shape()),
                    cat("one scale for each 16, 32, 64 ... elements along k, or one for all ", from.one.rows));
  if (has_extents(c, scales, s, s.one.rows, from) && !r.replaces_all) c.view(scales);
}

}  // namespace

void pack::check(checker& c) const {
  if (!has_rank(c, from) || !has_rank(c, packed)) return;
  if (!is_packable(from.type())) return c.refuse(&from, cat("holds ", to_string(from.type())), "f32, f16 or bf16");
  if (!is_packable(packed.type()) && !is_quantized(packed.type()))
    return c.refuse(&packed, cat("holds ", to_string(packed.type())), "f32, f16, bf16, i8, f8e4m3, f8e5m2 or f4e2m1x2");
  const batch_of_matrices all = matrices_of(from.shape()), p = matrices_of(packed.shape());
  if (all.one.rows < 1 || all.one.columns < 1 || all.count < 1)
    return c.refuse(&from, "is " + troupe::detail::extents_text(from.shape()), "extents of at least 1");
  const std::int64_t each = k_per_element(packed.type());
  if (all.one.rows % each != 0)
    return c.refuse(&from, "is " + troupe::detail::extents_text(from.shape()),
                    "an even number of rows, because an element of f4e2m1x2 holds two numbers");
  if (!has_extents(c, packed, p, all.one.rows / each, all)) return;
  check_scales(c, *this, all);
  c.view(from);
  if (!replaces_all) c.view(packed);
}

pack_problem problem_of(const pack& r) {
  const batch_of_matrices all = matrices_of(r.from.shape());
  pack_problem p{.from = columns_of(r.from),
                 .packed = columns_of(r.packed),
                 .by = {},
                 .lines = all.one.columns,
                 .terms = all.one.rows,
                 .block = all.one.rows,
                 .batch = all.count};
  if (r.scales) {
    const factor s = columns_of(*r.scales);
    p.block = terms_of_block(p.terms, matrices_of(r.scales->shape()).one.rows);
    p.by = {.address = s.address,
            .type = s.type,
            .block = {1, p.block},
            .k_stride = s.term,
            .line_stride = s.line,
            .batch_stride = s.batch};
  }
  return p;
}

}  // namespace troupe::cutlass
