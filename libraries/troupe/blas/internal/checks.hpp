// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/base/numbers/int8_sums.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/checks_of.hpp>
#include <utility>
#include <vector>

/// Checks that several requests share. Pass fields by reference: the checker finds a field's name by its address.
namespace troupe::blas {

inline constexpr extent one = 1;
/// Returns the increment that `tight` stands for.
inline const extent& step(const extent& inc) noexcept { return inc == tight ? one : inc; }

template <class... E>
void positive(checker& check, const E&... sizes) {
  (check.positive(sizes), ...);
}

/// Checks the `math` field of a product of elements T.
template <class T>
void math_fits(checker& check, const math_mode& m) {
  if constexpr (!std::is_same_v<T, float> && !std::is_same_v<T, complex64>)
    check.require(m == math_mode::exact, m, "allows less than the elements' precision",
                  "exact: only products of f32 and c64 have other modes");
}

/// Checks that `x` holds a vector of n elements with this increment.
template <class X>
void vector(checker& check, const X& x, extent n, const extent& inc) {
  check.vector(x, n, step(inc));
}
/// Checks the factors of a request: alpha; and beta, which says whether the old content of `c` is read.
template <class R, class C>
void factors(checker& check, const R& r, [[maybe_unused]] const C& c) {
  if constexpr (requires { r.alpha; }) check.number(r.alpha);
  if constexpr (requires { r.beta; }) {
    check.number(r.beta);
    if (r.beta.is(0)) check.overwrites(c);
  }
}
/// Checks the memory `place` for a copy of the reply, if it is given.
template <class T>
void result_to(checker& check, const std::optional<out<T>>& place, extent count = 1) {
  if (place) check.elements(*place, count);
}

/// The extents of a matrix in memory.
struct shape {
  extent rows, columns;
};
/// Returns the extents in memory of a matrix X for which op(X) is rows by columns.
inline shape stored(op o, extent rows, extent columns) {
  return o == op::none ? shape{rows, columns} : shape{columns, rows};
}
/// Checks that `x` holds a matrix, or that each element of a list does.
template <class T, access_mode M>
void holds_matrix(checker& check, const operand<T, M>& x, shape s, const extent& ld) {
  check.matrix(x, s.rows, s.columns, check.leading(ld, s.rows));
}
template <class T, access_mode M>
void holds_matrix(checker& check, const list<operand<T, M>>& all, shape s, const extent& ld) {
  const extent columns_apart = check.leading(ld, s.rows);
  for (const auto& x : all) check.matrix(x, s.rows, s.columns, columns_apart);
}

/// Checks the packed triangle of an n by n matrix, n * (n + 1) / 2 elements. The even one of n and n + 1 is halved
/// first, so that the product overflows only if the result does.
template <class T, access_mode M>
void packed(checker& check, const operand<T, M>& x, const extent& n) {
  const bool even = n.value() % 2 == 0;
  const extent half = (even ? n.value() : n.value() / 2 + 1) / (even ? 2 : 1);
  check.elements(x, n < 1 ? extent(0) : half * (even ? n + 1 : n));
}

/// Allows C to be in the memory of X if both have the same address and layout.
template <class X, class Y>
void in_place(checker& check, const X& x, extent ldx, const Y& c, extent ldc) {
  if (x.range().address == c.range().address && ldx == ldc) check.may_overlap(&x, &c);
}

/// Checks that the lists of a batch are as long as the first one, which must not be empty. Returns whether they are.
template <class First, class... Others>
bool equally_long(checker& check, const First& first, const Others&... others) {
  if (first.empty()) check.refuse(&first, "is an empty list", "at least one element");
  bool equal = !first.empty();
  [[maybe_unused]] const auto compare = [&](const auto& other) {
    equal &= other.size() == first.size();
    if (other.size() != first.size())
      check.refuse(&other, cat("is a list of ", other.size()), cat(first.size(), ", as many as the first list has"));
  };
  (compare(others), ...);
  return equal;
}

/// Checks `batch` matrices in one operand. Matrices that are written must not share elements: each must end before the
/// next one begins, or they must be adjacent blocks of rows of one matrix.
template <class T, access_mode M>
void matrices(checker& check, const operand<T, M>& x, shape s, extent ld, const extent& batch, const extent& stride) {
  const extent apart = stride == tight ? ld * s.columns : stride;
  if (stride != tight) {
    const extent each = (s.columns - 1) * ld + s.rows, all_beside = (batch - 1) * apart + s.rows;
    const bool beside = apart >= s.rows && all_beside <= ld && !all_beside.overflowed();
    check.at_least(stride, M == access_mode::read || batch <= 1 || beside ? extent(0) : each);
  }
  check.matrices(x, s.rows, s.columns, ld, batch, apart);
}

}  // namespace troupe::blas
