// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/base/int8_sums.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/internal/option_checks.hpp>
#include <troupe/cutlass/problem.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::cutlass {
namespace {

using matmul::batch_of_matrices, matmul::matrices_of, matmul::terms_in, troupe::detail::text;

bool may_scale(dtype scale) noexcept {
  return scale == dtype::f32 || scale == dtype::f16 || scale == dtype::bf16 || scale == dtype::f8e8m0 ||
         scale == dtype::f8e4m3;
}

// Of a product, or of one to prepare.
template <class Product>
class product_check {
 public:
  product_check(checker& c, const Product& r) noexcept : check_(c), r_(r) {}

  void run() {
    detail::check_options(check_, r_);
    if (!has_rank(r_.a) || !has_rank(r_.b) || !has_rank(r_.d) || !has_types()) return;
    const batch_of_matrices a = matrices_of(r_.a.shape()), b = matrices_of(r_.b.shape()), d = matrices_of(r_.d.shape());
    // A view that was refused when it was made has its own reason, which the checker has found already.
    if (a.one.rows < 1 || b.one.columns < 1 || d.one.rows < 1 || d.one.columns < 1) return;
    const bool pairs = epilogue::is_paired(r_.epilogue.nodes());
    const std::int64_t terms = a.one.columns * terms_in(r_.a.type());
    if (b.one.rows * terms_in(r_.b.type()) != terms)
      return refuse(r_.b, cat(terms / terms_in(r_.b.type()), " rows, as a has columns"));
    if (pairs && b.one.columns % 2 != 0)
      return refuse(r_.b, "an even number of columns, because the epilogue pairs them");
    const std::int64_t columns = pairs ? b.one.columns / 2 : b.one.columns;
    if (d.one.rows != a.one.rows || d.one.columns != columns)
      return refuse(r_.d, cat(a.one.rows, " x ", columns, pairs ? " (as a and half of b)" : " (as a and b)"));
    for (const auto& [field, batch] : {std::pair{&r_.a, &a}, std::pair{&r_.b, &b}})
      if (batch->count != d.count && batch->count != 1) return refuse(*field, cat("1 or ", d.count, " matrices, as d"));
    if (sums_ == dtype::i32 && terms > longest_int8_sum)
      return refuse(r_.a, cat("at most ", longest_int8_sum, " columns, so that no sum of products overflows"));
    check_.view(r_.a);
    check_.view(r_.b);
    check_.view(r_.d);
    check_scales(r_.a_scales, r_.a, a, d.count, true);
    check_scales(r_.b_scales, r_.b, b, d.count, false);
    epilogue::check(check_, r_.epilogue, {d.one.rows, d.one.columns, d.count, sums_});
    detail::allow_in_place(check_, r_.epilogue, r_.d, d.one, d.count, d.stride);
  }

 private:
  template <class F>
  void refuse(const F& field, std::string_view expected) {
    check_.refuse(&field, "is " + troupe::detail::extents_text(field.shape()), expected);
  }
  template <class F>
  bool has_rank(const F& field) {
    const bool fine = field.shape().rank == 2 || field.shape().rank == 3;
    if (!fine) check_.refuse(&field, cat("has ", field.shape().rank, " indexes"), "2, or 3 for a batch of matrices");
    return fine;
  }
  bool has_types() {
    sums_ = sums_of(r_.a.type(), r_.b.type());
    if (sums_ == dtype{}) {
      check_.refuse(&r_.b, cat("holds ", to_string(r_.b.type()), ", and a holds ", to_string(r_.a.type())),
                    "both f32, f64, f16, bf16 or i8; each f8e4m3 or f8e5m2; or f16 or bf16 and a narrower type");
      return false;
    }
    const bool fine = epilogue::is_real(r_.d.type());
    if (!fine) check_.refuse(&r_.d, cat("holds ", to_string(r_.d.type())), "one real number in each element");
    return fine;
  }

  void check_scales(const std::optional<in_any>& scales, const in_any& factor, const batch_of_matrices& of,
                    std::int64_t batch, bool lines_are_rows) {
    if (!scales) return;
    if (!has_rank(*scales)) return;
    if (sums_ != dtype::f32 || factor.type() == dtype::f32)
      return check_.refuse(&*scales, cat("is given for ", to_string(factor.type())),
                           "no scales; multiply in the epilogue");
    if (!may_scale(scales->type()))
      return check_.refuse(&*scales, cat("holds ", to_string(scales->type())), "f32, f16, bf16, f8e8m0 or f8e4m3");
    const batch_of_matrices all = matrices_of(scales->shape());
    const std::int64_t terms = (lines_are_rows ? of.one.columns : of.one.rows) * terms_in(factor.type()),
                       lines = lines_are_rows ? of.one.rows : of.one.columns;
    const matrix_shape s = lines_are_rows ? all.one : all.one.transposed();
    const std::int64_t block = terms_of_block(terms, s.columns);
    if (block == 0) return refuse(*scales, cat("one for each 16, 32, 64 ... or all of ", terms, " terms"));
    if (s.rows != lines && s.rows != (lines + block - 1) / block)
      return refuse(*scales, cat(lines, " or ", (lines + block - 1) / block, lines_are_rows ? " rows" : " columns",
                                 ": a scale for each line, or for ", block, " lines"));
    if (all.count != of.count && all.count != batch && all.count != 1)
      return refuse(*scales, cat("1 or ", of.count, " matrices, as its factor"));
    check_.view(*scales);
  }

  checker& check_;
  const Product& r_;
  dtype sums_{};
};

}  // namespace

void gemm::check(checker& c) const { product_check(c, *this).run(); }

void prepare::check(checker& c) const {
  product_check(c, *this).run();
  detail::check_preparing(c, *this);
}

prepare prepare::of(const gemm& r, std::int32_t measure) {
  return {.a = r.a,
          .b = r.b,
          .d = in_any(r.d.range(), r.d.shape(), r.d.type()),
          .epilogue = r.epilogue.without_writes(),
          .a_scales = r.a_scales,
          .b_scales = r.b_scales,
          .precision = r.precision,
          .accumulation = r.accumulation,
          .compiling = r.compiling,
          .plan = r.plan,
          .workspace = r.workspace,
          .measure = measure};
}

gemm prepare::product() const {
  return {a,
          b,
          out_any(d.range(), d.shape(), d.type()),
          epilogue,
          a_scales,
          b_scales,
          precision,
          accumulation,
          compiling,
          plan,
          workspace};
}

}  // namespace troupe::cutlass

TROUPE_CHECKS(troupe::cutlass::product_requests)
