// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/views.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::blas {
namespace {

using troupe::detail::extents_text;

// A view in the terms of BLAS: op(X), where X is stored column by column.
struct stored_view {
  op trans = op::none;
  extent ld = 1;
};
// Returns true if columns are contiguous, so that BLAS takes the matrix without transposing it.
bool has_columns(const matrix_shape& s) noexcept { return s.row_stride == 1 || s.rows == 1; }
bool suits_blas(const matrix_shape& s) noexcept { return has_columns(s) || has_columns(s.transposed()); }
stored_view stored(const matrix_shape& s) noexcept {
  if (has_columns(s)) return {op::none, s.columns == 1 ? s.rows : s.column_stride};
  return {op::transpose, s.rows == 1 ? s.columns : s.row_stride};
}

triangle other(triangle t) noexcept { return t == triangle::lower ? triangle::upper : triangle::lower; }
side other(side s) noexcept { return s == side::left ? side::right : side::left; }

template <class V>
void check_view(checker& check, const V& view) {
  const matrix_shape& s = view.shape();
  check.view(view);
  if (s.rows < 1 || s.columns < 1) check.refuse(&view, "is " + extents_text(s), "at least 1 row and 1 column");
  if (!suits_blas(s))
    check.refuse(&view, cat("has strides ", s.row_stride, " and ", s.column_stride),
                 "contiguous rows or contiguous columns: one stride of 1");
}
template <class V>
void has_size(checker& check, const V& view, std::int64_t rows, std::int64_t columns, std::string_view why) {
  const matrix_shape& s = view.shape();
  if (s.rows != rows || s.columns != columns)
    check.refuse(&view, "is " + extents_text(s), cat(extents_text(matrix_shape{rows, columns}), " (", why, ")"));
}

}  // namespace

// A view whose construction failed was refused already, with its own reason.
template <class T, class C>
void multiplication<T, C>::check(checker& check) const {
  const matrix_shape &sa = a.shape(), &sb = b.shape();
  if (sb.rows != sa.columns)
    check.refuse(&b, "is " + extents_text(sb),
                 cat(sa.columns, " rows, as many as a has columns: a is ", extents_text(sa)));
  has_size(check, c, sa.rows, sb.columns, "rows of a, columns of b");
  check_view(check, a);
  check_view(check, b);
  check_view(check, c);
  if (std::is_same_v<C, std::int32_t> && sa.columns > longest_int8_sum)
    check.refuse(&a, "is " + extents_text(sa),
                 cat("at most ", longest_int8_sum, " columns, so that no sum of products overflows"));
  math_fits<T>(check, math);
  factors(check, *this, c);
}

template <class T>
void addition<T>::check(checker& check) const {
  const matrix_shape& sa = a.shape();
  has_size(check, b, sa.rows, sa.columns, "the extents of a");
  has_size(check, c, sa.rows, sa.columns, "the extents of a and b");
  check_view(check, a);
  check_view(check, b);
  check_view(check, c);
  check.number(alpha);
  check.number(beta);
  for (const auto* x : {&a, &b})
    if (x->range().address == c.range().address && x->shape() == c.shape()) check.may_overlap(x, &c);
}

template <class T>
void triangular_solution<T>::check(checker& check) const {
  const matrix_shape& sb = b.shape();
  const bool left = side == blas::side::left;
  const std::int64_t n = left ? sb.rows : sb.columns;
  has_size(check, a, n, n, left ? "rows of b" : "columns of b");
  check_view(check, a);
  check_view(check, b);
  check.number(alpha);
}

template <class T, class C>
gemm<T, C> multiplication<T, C>::to_request() const {
  const bool swap = exchanges_operands();
  const auto &first = swap ? b : a, &second = swap ? a : b;
  const auto oriented = [swap](const matrix_shape& s) { return swap ? s.transposed() : s; };
  const matrix_shape sc = oriented(c.shape()), s1 = oriented(first.shape());
  const stored_view sa = stored(s1), sb = stored(oriented(second.shape()));
  return {.a = first,
          .b = second,
          .c = c,
          .m = sc.rows,
          .n = sc.columns,
          .k = s1.columns,
          .trans_a = sa.trans,
          .trans_b = sb.trans,
          .alpha = alpha,
          .beta = beta,
          .lda = sa.ld,
          .ldb = sb.ld,
          .ldc = stored(sc).ld,
          .math = math};
}

template <class T>
geam<T> addition<T>::to_request() const {
  const bool swap = !has_columns(c.shape());
  const auto oriented = [swap](const matrix_shape& s) { return swap ? s.transposed() : s; };
  const matrix_shape sc = oriented(c.shape());
  const stored_view sa = stored(oriented(a.shape())), sb = stored(oriented(b.shape()));
  return {.a = a,
          .b = b,
          .c = c,
          .m = sc.rows,
          .n = sc.columns,
          .trans_a = sa.trans,
          .trans_b = sb.trans,
          .alpha = alpha,
          .beta = beta,
          .lda = sa.ld,
          .ldb = sb.ld,
          .ldc = stored(sc).ld};
}

template <class T>
trsm<T> triangular_solution<T>::to_request() const {
  const bool swap = !has_columns(b.shape());
  const matrix_shape sb = swap ? b.shape().transposed() : b.shape();
  const stored_view sa = stored(swap ? a.shape().transposed() : a.shape());
  // Transposing the equation exchanges lower and upper triangles, and so does storing A by rows.
  const bool flipped = swap != (sa.trans == op::transpose);
  return {.a = a,
          .b = b,
          .m = sb.rows,
          .n = sb.columns,
          .side = swap ? other(side) : side,
          .uplo = flipped ? other(uplo) : uplo,
          .trans = sa.trans,
          .diag = diag,
          .alpha = alpha,
          .lda = sa.ld,
          .ldb = stored(sb).ld};
}

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_views)
