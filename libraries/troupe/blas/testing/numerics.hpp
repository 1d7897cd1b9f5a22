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
  std::int64_t leading(std::int64_t rows) {
    return rows + random.one_of<std::int64_t>({0, 0, 1, random.between(1, 20)});
  }
  /// Returns the leading dimension for a request, sometimes left out if there is no gap.
  extent written(std::int64_t ld, std::int64_t rows) {
    return ld == rows && random.between(0, 1) == 0 ? tight : extent(ld);
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
