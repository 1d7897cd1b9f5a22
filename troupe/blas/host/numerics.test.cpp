// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Every operation against a reference in higher precision, over random shapes, layouts and scalars.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tests/numerics/compare.hpp>
#include <tests/numerics/engine_under_test.hpp>
#include <tests/numerics/painted.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::blas {
namespace {

using namespace numerics;

template <class T>
class blas_numerics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { engine = new engine_under_test(TROUPE_ENGINE_UNDER_TEST); }
  static void TearDownTestSuite() {
    delete engine;
    engine = nullptr;
  }

  template <class R>
  void run(const R& r) {
    const auto done = engine->run(r);
    ASSERT_TRUE(done) << done.error().to_string();
  }
  template <class R>
  static std::string story(const R& r) {
    return describe(r) + "; " + how_to_repeat();
  }

  T scalar() { return random.one_of<T>({0, 1, -1, static_cast<T>(random.value()), static_cast<T>(random.value())}); }
  op any_op() { return random.one_of({op::none, op::transpose, op::conjugate_transpose}); }
  std::int64_t increment() { return random.one_of<std::int64_t>({1, 1, -1, 2, -2, 3, -7}); }

  // Sizes: mostly small, where the edges of blocked kernels are, some beyond them.
  std::int64_t size(std::int64_t large) {
    return random.one_of({random.between(1, 5), random.between(1, 40), random.between(1, large)});
  }

  // Columns of `rows`, tight as often as not.
  std::int64_t leading(std::int64_t rows) {
    return rows + random.one_of<std::int64_t>({0, 0, 1, random.between(1, 20)});
  }
  // The same in a request: what is tight is sometimes left out.
  extent written(std::int64_t ld, std::int64_t rows) {
    return ld == rows && random.between(0, 1) == 0 ? tight : extent(ld);
  }

  void expect_gemm(std::int64_t m, std::int64_t n, std::int64_t k);
  void expect_gemv(std::int64_t m, std::int64_t n);

  static engine_under_test* engine;
  random_source random;
};
template <class T>
engine_under_test* blas_numerics<T>::engine = nullptr;

struct element_names {
  template <class T>
  static std::string GetName(int) {
    return std::string(element_name<T>());
  }
};
using elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(blas_numerics, elements, element_names);

template <class T>
void blas_numerics<T>::expect_gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  const op trans_a = any_op(), trans_b = any_op();
  const bool ta = trans_a != op::none, tb = trans_b != op::none;
  const std::int64_t rows_a = ta ? k : m, columns_a = ta ? m : k, rows_b = tb ? n : k, columns_b = tb ? k : n;
  const std::int64_t lda = leading(rows_a), ldb = leading(rows_b), ldc = leading(m);
  painted<T> a((columns_a - 1) * lda + rows_a), b((columns_b - 1) * ldb + rows_b), c((n - 1) * ldc + m);
  const gemm<T> r{.a = {a.address(), a.size()},
                  .b = {b.address(), b.size()},
                  .c = {c.address(), c.size()},
                  .m = m,
                  .n = n,
                  .k = k,
                  .trans_a = trans_a,
                  .trans_b = trans_b,
                  .alpha = scalar(),
                  .beta = scalar(),
                  .lda = written(lda, rows_a),
                  .ldb = written(ldb, rows_b),
                  .ldc = written(ldc, m)};
  SCOPED_TRACE(story(r));
  const auto va = column_major(a.data(), rows_a, columns_a, lda), vb = column_major(b.data(), rows_b, columns_b, ldb);
  const auto vc = column_major(c.data(), m, n, ldc);
  // A factor of 0 means that its part is not read: it stays NaN.
  if (r.alpha != 0) a.fill(va, random), b.fill(vb, random);
  if (r.beta != 0) c.fill(vc, random);
  a.remember();
  b.remember();
  c.remember();
  const auto want = reference::gemm(r.alpha, ta ? va.transposed() : va, tb ? vb.transposed() : vb, r.beta,
                                    column_major(c.before(), m, n, ldc));
  this->run(r);
  EXPECT_TRUE(all_agree(vc, want));
  EXPECT_TRUE(c.untouched_outside(vc));
  EXPECT_TRUE(a.untouched());
  EXPECT_TRUE(b.untouched());
}

TYPED_TEST(blas_numerics, gemm_agrees_with_the_reference_on_random_shapes_layouts_and_scalars) {
  for (int i = 0; i < 400 && !this->HasFailure(); ++i)
    this->expect_gemm(this->size(90), this->size(90), this->size(90));
}

TYPED_TEST(blas_numerics, gemm_agrees_with_the_reference_where_it_uses_several_threads) {
  for (int i = 0; i < 6 && !this->HasFailure(); ++i)
    this->expect_gemm(this->random.between(150, 260), this->random.between(150, 260), this->random.between(150, 400));
}

TYPED_TEST(blas_numerics, gemm_agrees_with_the_reference_on_long_and_thin_shapes) {
  for (int i = 0; i < 4 && !this->HasFailure(); ++i) {
    this->expect_gemm(1, 1, this->random.between(1, 20000));
    this->expect_gemm(this->random.between(1, 20000), 1, this->random.between(1, 3));
    this->expect_gemm(2, this->random.between(1, 20000), this->random.between(1, 3));
  }
}

template <class T>
void blas_numerics<T>::expect_gemv(std::int64_t m, std::int64_t n) {
  const op trans = any_op();
  const bool turned = trans != op::none;
  const std::int64_t lda = leading(m), incx = increment(), incy = increment();
  vector_view<T> vx{nullptr, turned ? m : n, incx}, vy{nullptr, turned ? n : m, incy};
  painted<T> a((n - 1) * lda + m), x(vx.span()), y(vy.span());
  vx.first = x.data();
  vy.first = y.data();
  const gemv<T> r{.a = {a.address(), a.size()},
                  .x = {x.address(), x.size()},
                  .y = {y.address(), y.size()},
                  .m = m,
                  .n = n,
                  .trans = trans,
                  .alpha = scalar(),
                  .beta = scalar(),
                  .lda = written(lda, m),
                  .incx = written(incx, 1),
                  .incy = written(incy, 1)};
  SCOPED_TRACE(story(r));
  const auto va = column_major(a.data(), m, n, lda);
  if (r.alpha != 0) a.fill(va, random), x.fill(vx, random);
  if (r.beta != 0) y.fill(vy, random);
  a.remember();
  x.remember();
  y.remember();
  const auto want =
      reference::gemv(r.alpha, turned ? va.transposed() : va, vx, r.beta, vector_view<const T>{y.before(), vy.n, incy});
  this->run(r);
  EXPECT_TRUE(all_agree(vy, want));
  EXPECT_TRUE(y.untouched_outside(vy));
  EXPECT_TRUE(a.untouched());
  EXPECT_TRUE(x.untouched());
}

TYPED_TEST(blas_numerics, gemv_agrees_with_the_reference_on_random_shapes_layouts_and_scalars) {
  for (int i = 0; i < 800 && !this->HasFailure(); ++i) this->expect_gemv(this->size(200), this->size(200));
}

TYPED_TEST(blas_numerics, gemv_agrees_with_the_reference_on_large_shapes) {
  for (int i = 0; i < 6 && !this->HasFailure(); ++i) {
    this->expect_gemv(this->random.between(400, 900), this->random.between(400, 900));
    this->expect_gemv(this->random.between(1, 3), this->random.between(1, 30000));
    this->expect_gemv(this->random.between(1, 30000), this->random.between(1, 3));
  }
}

TYPED_TEST(blas_numerics, axpy_agrees_with_the_reference) {
  using T = TypeParam;
  for (int i = 0; i < 500 && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(30000), incx = this->increment(), incy = this->increment();
    vector_view<T> vx{nullptr, n, incx}, vy{nullptr, n, incy};
    painted<T> x(vx.span()), y(vy.span());
    vx.first = x.data();
    vy.first = y.data();
    const axpy<T> r{.x = {x.address(), x.size()},
                    .y = {y.address(), y.size()},
                    .n = n,
                    .alpha = this->scalar(),
                    .incx = this->written(incx, 1),
                    .incy = this->written(incy, 1)};
    SCOPED_TRACE(this->story(r));
    if (r.alpha != 0) x.fill(vx, this->random);
    y.fill(vy, this->random);
    x.remember();
    y.remember();
    const auto want = reference::axpy(r.alpha, vx, vy);
    this->run(r);
    EXPECT_TRUE(all_agree(vy, want));
    EXPECT_TRUE(y.untouched_outside(vy));
    EXPECT_TRUE(x.untouched());
  }
}

TYPED_TEST(blas_numerics, scal_agrees_with_the_reference_whatever_the_sign_of_the_increment) {
  using T = TypeParam;
  for (int i = 0; i < 500 && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(30000), incx = this->increment();
    vector_view<T> vx{nullptr, n, incx};
    painted<T> x(vx.span());
    vx.first = x.data();
    const scal<T> r{.x = {x.address(), x.size()}, .n = n, .alpha = this->scalar(), .incx = this->written(incx, 1)};
    SCOPED_TRACE(this->story(r));
    x.fill(vx, this->random);
    x.remember();
    const auto want = reference::scal(r.alpha, vx);
    this->run(r);
    EXPECT_TRUE(all_agree(vx, want));
    EXPECT_TRUE(x.untouched_outside(vx));
  }
}

TYPED_TEST(blas_numerics, dot_agrees_with_the_reference) {
  using T = TypeParam;
  for (int i = 0; i < 500 && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(30000), incx = this->increment(), incy = this->increment();
    vector_view<T> vx{nullptr, n, incx}, vy{nullptr, n, incy};
    painted<T> x(vx.span()), y(vy.span());
    vx.first = x.data();
    vy.first = y.data();
    const dot<T> r{.x = {x.address(), x.size()},
                   .y = {y.address(), y.size()},
                   .n = n,
                   .incx = this->written(incx, 1),
                   .incy = this->written(incy, 1)};
    SCOPED_TRACE(this->story(r));
    x.fill(vx, this->random);
    y.fill(vy, this->random);
    x.remember();
    y.remember();
    const auto got = this->engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_TRUE(all_agree(vector_view<const T>{&*got, 1}, {reference::dot(vx, vy)}));
    EXPECT_TRUE(x.untouched());
    EXPECT_TRUE(y.untouched());
  }
}

TYPED_TEST(blas_numerics, dot_of_a_vector_with_itself_is_its_squared_length) {
  using T = TypeParam;
  const T x[] = {3, 4};
  const auto address = reinterpret_cast<std::uintptr_t>(x);
  const auto got = this->engine->run(dot<T>{.x = {address, 2}, .y = {address, 2}, .n = 2});
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(*got, T(25));
}

// BLAS does not say whether alpha meets each product or their sum, so where alpha is infinite, infinite and NaN are the
// same here.
template <class T>
void take_infinite_as_nan(T* values, std::int64_t n, std::vector<expected>& want) {
  for (expected& e : want)
    if (std::isinf(e.value)) e.value = std::numeric_limits<wide>::quiet_NaN();
  for (std::int64_t i = 0; i < n; ++i)
    if (std::isinf(values[i])) values[i] = std::numeric_limits<T>::quiet_NaN();
}

TYPED_TEST(blas_numerics, scalars_that_are_nan_or_infinite_follow_the_formulas) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T alpha : {nan, inf, -inf, T(0), T(2)})
    for (const T beta : {nan, inf, T(0), T(1), T(-1)})
      for (const std::int64_t n : {1, 3, 17, 64, 100}) {
        painted<T> a(n * n), b(n * n), c(n * n), x(n), y(n);
        const auto va = column_major(a.data(), n, n, n), vb = column_major(b.data(), n, n, n),
                   vc = column_major(c.data(), n, n, n);
        const vector_view<T> vx{x.data(), n}, vy{y.data(), n};
        a.fill(va, this->random), b.fill(vb, this->random), c.fill(vc, this->random), x.fill(vx, this->random),
            y.fill(vy, this->random);
        const gemm<T> product{.a = {a.address(), a.size()},
                              .b = {b.address(), b.size()},
                              .c = {c.address(), c.size()},
                              .m = n,
                              .n = n,
                              .k = n,
                              .alpha = alpha,
                              .beta = beta};
        const gemv<T> applied{.a = {a.address(), a.size()},
                              .x = {x.address(), x.size()},
                              .y = {y.address(), y.size()},
                              .m = n,
                              .n = n,
                              .alpha = alpha,
                              .beta = beta};
        auto c_want = reference::gemm(alpha, va, vb, beta, vc);
        auto y_want = reference::gemv(alpha, va, vx, beta, vy);
        this->run(product);
        this->run(applied);
        if (std::isinf(alpha)) take_infinite_as_nan(c.data(), n * n, c_want), take_infinite_as_nan(y.data(), n, y_want);
        EXPECT_TRUE(all_agree(vc, c_want)) << this->story(product);
        EXPECT_TRUE(all_agree(vy, y_want)) << this->story(applied);

        y.fill(vy, this->random);
        const axpy<T> sum{.x = {x.address(), x.size()}, .y = {y.address(), y.size()}, .n = n, .alpha = alpha};
        const auto sum_want = reference::axpy(alpha, vx, vy);
        this->run(sum);
        EXPECT_TRUE(all_agree(vy, sum_want)) << this->story(sum);
      }
}

TYPED_TEST(blas_numerics, scal_always_multiplies) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T alpha : {T(0), nan, inf, T(2)})
    for (const std::int64_t n : {3, 40, 1000})
      for (const std::int64_t inc : {1, -3}) {
        vector_view<T> vx{nullptr, n, inc};
        painted<T> x(vx.span());
        vx.first = x.data();
        x.fill(vx, this->random);
        vx(0) = nan, vx(1) = inf, vx(2) = 0;
        const auto want = reference::scal(alpha, vx);
        const scal<T> r{.x = {x.address(), x.size()}, .n = n, .alpha = alpha, .incx = inc};
        this->run(r);
        EXPECT_TRUE(all_agree(vx, want)) << this->story(r);
      }
}

}  // namespace
}  // namespace troupe::blas
