// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <tests/numerics/compare.hpp>
#include <tests/numerics/engine_suite.hpp>
#include <troupe/blas/options.hpp>

/// The fixture of the numerics tests of all blas requests: an engine, random shapes and factors, and the comparison.
namespace troupe::blas {

using namespace numerics;

/// Returns op(A).
inline dense apply_op(op o, const dense& a) {
  if (o == op::none) return a;
  return o == op::transpose ? a.transposed() : a.transposed().conjugated();
}

/// Adds `more` to `sum`.
inline void add(answers& sum, const answers& more) {
  for (std::int64_t j = 0; j < sum.columns(); ++j)
    for (std::int64_t i = 0; i < sum.rows(); ++i) {
      expected& e = sum(i, j);
      const expected& f = more(i, j);
      e = {e.value + f.value, e.magnitude + f.magnitude, e.roundings + f.roundings};
    }
}
/// Returns the results with a diagonal whose imaginary parts are exactly 0, as those of Hermitian matrices.
inline answers with_real_diagonal(answers want) {
  for (std::int64_t i = 0; i < want.rows(); ++i) want(i, i).value.im = 0;
  return want;
}

/// A leading dimension of columns of `rows` elements.
struct leading_dimension {
  std::int64_t value, rows;
  operator std::int64_t() const { return value; }
};

/// The parameters of a random request: its sizes, options and factors. Requests use those that they have.
template <class Alpha, class Beta = Alpha>
struct request_parameters {
  std::int64_t m, n, k;
  triangle uplo;
  op trans;
  diagonal diag;
  blas::side side;
  Alpha alpha;
  Beta beta;
  leading_dimension lda, ldb, ldc;
  std::int64_t incx, incy;

  bool lower() const { return uplo == triangle::lower; }
  bool unit() const { return diag == diagonal::unit; }
  bool left() const { return side == blas::side::left; }
  bool transposed() const { return trans != op::none; }
  /// Returns the length of the vector that an m by n matrix multiplies.
  std::int64_t size_x() const { return transposed() ? m : n; }
  /// Returns the length of that product.
  std::int64_t size_y() const { return transposed() ? n : m; }
  /// Returns the rows of a square matrix that multiplies an m by n matrix.
  std::int64_t order() const { return left() ? m : n; }
  /// Returns the matrix by which a request with the triangular matrix `a` multiplies.
  dense op_of_triangle(const dense& a) const { return apply_op(trans, unit() ? a.with_unit_diagonal() : a); }
};

class blas_numerics : public engine_suite {
 protected:
  /// Runs `r` and checks its results: `got` must equal `want` where `want` has elements, and must be unchanged
  /// elsewhere. Operands that are only read must not change.
  template <class Compute, class R, class T, class... Read>
  void expect(const R& r, stored<T>& got, const answers& want, const stored<Read>&... read) {
    SCOPED_TRACE(story(r));
    run(r);
    EXPECT_TRUE((all_agree<T, Compute>(got, want)));
    EXPECT_TRUE(got.untouched_outside());
    (expect_untouched(read), ...);
  }
  template <class R, class T, class... Read>
  void expect(const R& r, stored<T>& got, const answers& want, const stored<Read>&... read) {
    expect<T>(r, got, want, read...);
  }
  template <class T>
  static void expect_untouched(const stored<T>& s) {
    EXPECT_TRUE(s.untouched());
  }
  /// Returns a random factor, often a special one such as 0, 1 or NaN.
  template <class T>
  T factor() {
    const double re = random.value(), im = random.value();
    const T any = as_element<T>({re, im});
    return random.one_of<T>({T(0), T(1), T(-1), any, any});
  }
  /// Returns a factor for a request: by value or in memory.
  template <class T>
  scalar<T> given(T value) {
    if (random.between(0, 1) == 0) return value;
    return scalar<T>::at(reinterpret_cast<std::uintptr_t>(new (numbers.emplace_back().bytes) T(value)));
  }

  op any_op() { return random.one_of({op::none, op::transpose, op::conjugate_transpose}); }
  triangle any_triangle() { return random.one_of({triangle::lower, triangle::upper}); }
  side any_side() { return random.one_of({side::left, side::right}); }
  diagonal any_diagonal() { return random.one_of({diagonal::stored, diagonal::unit}); }
  std::int64_t increment() { return random.one_of<std::int64_t>({1, 1, -1, 2, -2, 3, -7}); }
  /// Returns a random extent: mostly small, sometimes near the block sizes of kernels, sometimes beyond them.
  std::int64_t size(std::int64_t large) {
    return random.one_of(
        {random.between(1, 5), random.between(1, std::min<std::int64_t>(large, 20)), random.between(1, large)});
  }
  /// Returns a leading dimension for columns of `rows` elements; about half of the time, there is no gap.
  leading_dimension leading(std::int64_t rows) {
    return {rows + random.one_of<std::int64_t>({0, 0, 1, random.between(1, 20)}), rows};
  }
  /// Returns the leading dimension for a request, sometimes left out if there is no gap.
  extent written(std::int64_t ld, std::int64_t rows) {
    return ld == rows && random.between(0, 1) == 0 ? tight : extent(ld);
  }
  extent written(const leading_dimension& ld) { return written(ld.value, ld.rows); }

  /// Returns random parameters for a request of this size, with leading dimensions for columns of m elements.
  template <class Alpha, class Beta = Alpha>
  request_parameters<Alpha, Beta> any_parameters(std::int64_t m, std::int64_t n, std::int64_t k = 0) {
    return {.m = m,
            .n = n,
            .k = k,
            .uplo = any_triangle(),
            .trans = any_op(),
            .diag = any_diagonal(),
            .side = any_side(),
            .alpha = factor<Alpha>(),
            .beta = factor<Beta>(),
            .lda = leading(m),
            .ldb = leading(m),
            .ldc = leading(m),
            .incx = increment(),
            .incy = increment()};
  }
  /// Draws m and n, too, each at most `most`.
  template <class Alpha, class Beta = Alpha>
  request_parameters<Alpha, Beta> any_parameters_up_to(std::int64_t most) {
    const std::int64_t m = size(most), n = size(most);
    return any_parameters<Alpha, Beta>(m, n);
  }
  /// Returns `r` with the options, factors and strides of `p` that it has.
  template <class R, class P>
  R with_options(R r, const P& p) {
    if constexpr (requires { r.uplo; }) r.uplo = p.uplo;
    if constexpr (requires { r.trans; }) r.trans = p.trans;
    if constexpr (requires { r.diag; }) r.diag = p.diag;
    if constexpr (requires { r.side; }) r.side = p.side;
    if constexpr (requires { r.alpha; }) r.alpha = given(p.alpha);
    if constexpr (requires { r.beta; }) r.beta = given(p.beta);
    if constexpr (requires { r.lda; }) r.lda = written(p.lda);
    if constexpr (requires { r.ldb; }) r.ldb = written(p.ldb);
    if constexpr (requires { r.ldc; }) r.ldc = written(p.ldc);
    if constexpr (requires { r.incx; }) r.incx = written(p.incx, 1);
    if constexpr (requires { r.incy; }) r.incy = written(p.incy, 1);
    return r;
  }
  /// Returns a request of type R with the parameters `p` for these operands, which are in the order of its fields.
  template <class R, class P, class... Operands>
  R make_request(const P& p, Operands&... operands) {
    if constexpr (requires(R r) { r.m; })
      return with_options(R{operands..., p.m, p.n}, p);
    else if constexpr (requires(R r) { r.k; })
      return with_options(R{operands..., p.n, p.k}, p);
    else
      return with_options(R{operands..., p.n}, p);
  }

  /// Gives a triangular matrix random elements that keep it far from singular: otherwise solutions grow without bound.
  template <class T>
  void fill_triangle(stored<T>& a) {
    a.fill(random);
    dense values = a.now();
    const number scale(wide(1) / static_cast<wide>(values.rows()), 0);
    for (std::int64_t j = 0; j < values.columns(); ++j)
      for (std::int64_t i = 0; i < values.rows(); ++i)
        values(i, j) = i == j ? values(i, j) + number(values(i, j).re < 0 ? -1 : 1) : values(i, j) * scale;
    a.set(values);
  }

 private:
  struct stored_number {
    alignas(16) std::byte bytes[64];
  };
  std::deque<stored_number> numbers;
};

template <class T>
struct blas_numerics_of : blas_numerics {};

using real_elements = ::testing::Types<float, double>;
using complex_elements = ::testing::Types<complex64, complex128>;
using full_elements = ::testing::Types<float, double, complex64, complex128>;
/// Declares the suite NAME, whose fixture is that of the suite BASE, for these elements.
#define TROUPE_SUITE_LIKE(BASE, NAME, ELEMENTS) \
  template <class T>                            \
  class NAME : public BASE<T> {};               \
  TYPED_TEST_SUITE(NAME, ELEMENTS, element_names)

}  // namespace troupe::blas
