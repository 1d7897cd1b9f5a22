// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/problems/problem.hpp>
#include <troupe/cutlass/problems/product_check.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::cutlass {
namespace {

using matmul::batch_of_matrices, matmul::matrices_of, matmul::k_per_element;

bool may_scale(dtype scale) noexcept {
  return scale == dtype::f32 || scale == dtype::f16 || scale == dtype::bf16 || scale == dtype::f8e8m0 ||
         scale == dtype::f8e4m3;
}

}  // namespace

void product_check::options(const product_options& o) {
  const plan& p = o.plan;
  const auto choice = [&]<class E>(std::string_view name, E is) {
    if (!is_known(is)) check_.refuse(&p, cat("has ", name, " ", static_cast<int>(is)), one_of<E>());
  };
  choice("family", p.family);
  choice("schedule", p.schedule);
  choice("raster", p.raster);
  choice("swapped", p.swapped);
  choice("divided", p.divided);
  const auto multiple = [&](std::uint16_t n, int of) { return n % of == 0; };
  if (!multiple(p.tile_m, 16) || !multiple(p.tile_n, 8) || !multiple(p.tile_k, 8))
    check_.refuse(&p, cat("has a tile of ", p.tile_m, " x ", p.tile_n, " x ", p.tile_k),
                  "multiples of 16, 8 and 8, or 0");
  if (p.cluster_m > 16 || p.cluster_n > 16 || p.cluster_m * p.cluster_n > 16)
    check_.refuse(&p, cat("has a cluster of ", p.cluster_m, " x ", p.cluster_n, " blocks"), "at most 16 blocks, or 0");
}

bool product_check::has_types(const operand_view& a, const operand_view& b, const operand_view& d) {
  sums_ = sums_of(a.type, b.type);
  if (sums_ == dtype{}) {
    check_.refuse(b.field, cat("holds ", to_string(b.type), ", and a holds ", to_string(a.type)),
                  "one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or f8e5m2 for each; or f16 or bf16 with a "
                  "narrower type");
    return false;
  }
  const bool fine = epilogue::is_real(d.type);
  if (!fine) check_.refuse(d.field, cat("holds ", to_string(d.type)), "one real number in each element");
  return fine;
}

bool product_check::fits(const operand_view& a, const operand_view& b, const operand_view& d, bool pairs) {
  return operand_check::fits(a, b, d, pairs) && fits_sums(a, sums_);
}

void product_check::scales(const in_any& scales, const operand_view& factor, std::int64_t batch, bool lines_are_rows,
                           bool per_line) {
  const operand_view view(scales);
  if (!has_rank(view)) return;
  if (sums_ != dtype::f32 || factor.type == dtype::f32)
    return check_.refuse(&scales, cat("is given for ", to_string(factor.type)),
                         "none: multiply by a number, row or column in the epilogue instead");
  if (!may_scale(scales.type()))
    return check_.refuse(&scales, cat("holds ", to_string(scales.type())), "f32, f16, bf16, f8e8m0 or f8e4m3");
  const batch_of_matrices all = matrices_of(scales.shape()), of = matrices_of(factor.shape);
  const std::int64_t terms = (lines_are_rows ? of.one.columns : of.one.rows) * k_per_element(factor.type),
                     lines = lines_are_rows ? of.one.rows : of.one.columns;
  const matrix_shape s = lines_are_rows ? all.one : all.one.transposed();
  const std::string_view what = lines_are_rows ? " rows" : " columns";
  if (terms == 0) {
    if (s.columns == 0 || (s.columns == 1 && s.rows == lines)) return check_.view(scales);
    return refuse(view, cat(lines, what, ", and none along k, because k is 0"));
  }
  const std::int64_t block = terms_of_block(terms, s.columns);
  if (block == 0)
    return refuse(view, cat("one scale for each 16, 32, 64 ... elements along k, or one for all ", terms));
  const std::int64_t coarse = (lines + block - 1) / block;
  const std::string_view line = lines_are_rows ? "row" : "column";
  if (per_line && s.rows != lines) return refuse(view, cat(lines, what, ": a scale for each ", line));
  if (s.rows != lines && s.rows != coarse)
    return refuse(view, cat(lines, " or ", coarse, what, ": a scale for each ", line, ", or for ", block, what));
  if (all.count != of.count && all.count != batch && all.count != 1)
    return refuse_count(view, cat(of.count == 1 ? "" : "1 or ", of.count, ", as its factor has"));
  check_.view(scales);
}

}  // namespace troupe::cutlass
