// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/internal/views.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::blas {
namespace {

using troupe::detail::extents_text;

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

// A view that was refused when it was made has its own reason, which the checker has found already.
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

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_views)
