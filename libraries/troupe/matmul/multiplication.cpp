// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/epilogue/check.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/operand_check.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::matmul {
namespace {

using epilogue::is_complex, troupe::detail::text;

class product_check {
 public:
  product_check(checker& c, const multiplication& r) noexcept : check_(c), operands_(c), r_(r) {}

  void run() {
    check_options();
    const operand_view view_a(r_.a), view_b(r_.b), view_d(r_.d);
    for (const operand_view* o : {&view_a, &view_b, &view_d})
      if (!operands_.has_rank(*o)) return;
    if (!has_types() || !operands_.fits(view_a, view_b, view_d, epilogue::is_paired(r_.epilogue.nodes()))) return;
    const batch_of_matrices a = matrices_of(r_.a.shape()), b = matrices_of(r_.b.shape()), d = matrices_of(r_.d.shape());
    if (!operands_.has_count(view_a, d.count, "d") || !operands_.has_count(view_b, d.count, "d") ||
        !operands_.fits_sums(view_a, sums_))
      return;
    if (!has_contiguous_lines(r_.a, a) || !has_contiguous_lines(r_.b, b) || !has_contiguous_lines(r_.d, d)) return;
    check_.view(r_.a);
    check_.view(r_.b);
    check_.view(r_.d);
    check_scales(a, b);
    epilogue::check(check_, r_.epilogue, {d.one.rows, d.one.columns, d.count, sums_});
    epilogue::allow_in_place(check_, r_.epilogue, r_.d, d.one, d.count, d.stride);
  }

 private:
  void check_options() {
    const product_options& o = r_.options;
    if (o.multiprocessors < 0) check_.refuse(&o.multiprocessors, cat("is ", o.multiprocessors), "at least 0 (0: all)");
  }

  template <class F>
  bool has_contiguous_lines(const F& field, const batch_of_matrices& m) {
    if (m.count == 0 || m.one.rows == 0 || m.one.columns == 0 || has_lines(m.one)) return true;
    check_.refuse(&field, "is " + text(field.shape()), "contiguous rows or contiguous columns");
    return false;
  }

  bool has_types() {
    sums_ = sums_of(r_.a.type(), r_.b.type());
    if (sums_ == dtype{}) {
      check_.refuse(&r_.b, cat("holds ", to_string(r_.b.type()), ", and a holds ", to_string(r_.a.type())),
                    "one type for both: f32, f64, f16, bf16, i8, f4e2m1x2, c64 or c128; or f8e4m3 or f8e5m2 for each");
      return false;
    }
    const dtype d = r_.d.type();
    const bool fine = is_complex(sums_) ? d == sums_ : epilogue::is_real(d);
    if (!fine)
      check_.refuse(
          &r_.d, cat("holds ", to_string(d)),
          is_complex(sums_) ? cat(to_string(sums_), ", the type of a and b") : "one real number in each element");
    return fine;
  }

  void check_scales(const batch_of_matrices& a, const batch_of_matrices& b) {
    if (r_.a_scales.has_value() != r_.b_scales.has_value())
      return check_.refuse(r_.a_scales ? &*r_.a_scales : &*r_.b_scales,
                           r_.a_scales ? "is set without b_scales" : "is set without a_scales", "both or neither");
    if (!r_.a_scales) {
      if (r_.a.type() == dtype::f4e2m1x2)
        check_.refuse(&r_.a, "holds f4e2m1x2 without scales", "a_scales and b_scales");
      return;
    }
    check_scales_of(r_.a, a, *r_.a_scales, true);
    check_scales_of(r_.b, b, *r_.b_scales, false);
  }
  void check_scales_of(const in_any& factor, const batch_of_matrices& of, const in_any& scales, bool lines_are_rows) {
    const operand_view view(scales);
    if (!operands_.has_rank(view)) return;
    const scale_block block = block_of(scales.type(), factor.type());
    if (block.k == 0)
      return check_.refuse(&scales,
                           cat("holds ", to_string(scales.type()), " for elements of ", to_string(factor.type())),
                           "f8e8m0 or f32 for f8e4m3 and f8e5m2, f8e4m3 for f4e2m1x2");
    const batch_of_matrices all = matrices_of(scales.shape());
    const std::int64_t k = (lines_are_rows ? of.one.columns : of.one.rows) * k_per_element(factor.type()),
                       lines = lines_are_rows ? of.one.rows : of.one.columns, along = (k + block.k - 1) / block.k,
                       coarse = (lines + block.k - 1) / block.k;
    const matrix_shape s = lines_are_rows ? all.one : all.one.transposed();
    const bool may_be_coarse = scales.type() == dtype::f32;
    if (s.columns != along || (s.rows != lines && !(may_be_coarse && s.rows == coarse)))
      return operands_.refuse(
          view,
          cat(lines_are_rows ? cat(lines, " x ", along) : cat(along, " x ", lines),
              may_be_coarse ? cat(", or ", lines_are_rows ? cat(coarse, " x ", along) : cat(along, " x ", coarse)) : "",
              ": one scale for each ", block.k, " elements along k"));
    if (all.count != of.count) return operands_.refuse_count(view, cat(of.count, ", as its factor has"));
    check_.view(scales);
  }

  checker& check_;
  operand_check operands_;
  const multiplication& r_;
  dtype sums_{};
};

}  // namespace

void multiplication::check(checker& c) const { product_check(c, *this).run(); }

void prepare_options::check(checker& c, std::int32_t measure) const {
  if (measure != 0 && choice.library() != 0)
    c.refuse(&choice, cat("is set, and measure is ", measure), "only one of the two");
  if (chosen) c.vector(*chosen, choice::size, 1);
}

}  // namespace troupe::matmul

TROUPE_CHECKS(troupe::matmul::all_requests)
