// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of a matrix and a vector, compared with a reference of higher precision, for every form of storage.
#include <cstring>
#include <deque>
#include <troupe/blas/level2/level2.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class level2 : public blas_numerics {
 protected:
  static constexpr int rounds = 200;

  // What all tests share: x, y and the factors. `multiply(alpha, beta, x, incx, y, incy)` runs the request; `meant` is
  // the full matrix that `a` represents.
  struct vectors {
    std::int64_t incx, incy;
    stored<T> x, y;
    T alpha, beta;
  };
  vectors vectors_for(stored<T>& a, std::int64_t nx, std::int64_t ny) {
    const std::int64_t incx = increment(), incy = increment();
    vectors v{incx, incy, stored<T>(vector_of(nx, incx)), stored<T>(vector_of(ny, incy)), factor<T>(), factor<T>()};
    // If a factor is 0, its operand is not read: it stays NaN.
    if (!(v.alpha == T(0))) a.fill(random), v.x.fill(random);
    if (!(v.beta == T(0))) v.y.fill(random);
    return v;
  }
  template <class R>
  void expect_product(const R& r, const stored<T>& a, const dense& meant, vectors& v) {
    expect(r, v.y, reference::product(v.alpha, meant, v.x.now(), v.beta, v.y.now()), a, v.x);
  }

  template <template <class> class R, bool Hermitian>
  void expect_full() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(100), lda = leading(n);
      const triangle uplo = any_triangle();
      stored<T> a(triangle_of(uplo == triangle::lower, false, n, lda));
      auto v = vectors_for(a, n, n);
      expect_product(R<T>{.a = a,
                          .x = v.x,
                          .y = v.y,
                          .n = n,
                          .uplo = uplo,
                          .alpha = given(v.alpha),
                          .beta = given(v.beta),
                          .lda = written(lda, n),
                          .incx = written(v.incx, 1),
                          .incy = written(v.incy, 1)},
                     a, a.now().completed(uplo == triangle::lower, Hermitian), v);
    }
  }
  template <template <class> class R, bool Hermitian>
  void expect_band() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(60), k = random.between(0, n + 2), lda = leading(k + 1);
      const triangle uplo = any_triangle();
      stored<T> a(band_triangle(uplo == triangle::lower, false, n, k, lda));
      auto v = vectors_for(a, n, n);
      expect_product(R<T>{.a = a,
                          .x = v.x,
                          .y = v.y,
                          .n = n,
                          .k = k,
                          .uplo = uplo,
                          .alpha = given(v.alpha),
                          .beta = given(v.beta),
                          .lda = written(lda, k + 1),
                          .incx = v.incx,
                          .incy = v.incy},
                     a, a.now().completed(uplo == triangle::lower, Hermitian), v);
    }
  }
  template <template <class> class R, bool Hermitian>
  void expect_packed() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(60);
      const triangle uplo = any_triangle();
      stored<T> a(packed_triangle(uplo == triangle::lower, false, n));
      auto v = vectors_for(a, n, n);
      expect_product(R<T>{.a = a,
                          .x = v.x,
                          .y = v.y,
                          .n = n,
                          .uplo = uplo,
                          .alpha = given(v.alpha),
                          .beta = given(v.beta),
                          .incx = v.incx,
                          .incy = v.incy},
                     a, a.now().completed(uplo == triangle::lower, Hermitian), v);
    }
  }
  void expect_gemv(std::int64_t m, std::int64_t n) {
    const op trans = any_op();
    const bool transposed = trans != op::none;
    const std::int64_t lda = leading(m);
    stored<T> a(general(m, n, lda));
    auto v = vectors_for(a, transposed ? m : n, transposed ? n : m);
    expect_product(gemv<T>{.a = a,
                           .x = v.x,
                           .y = v.y,
                           .m = m,
                           .n = n,
                           .trans = trans,
                           .alpha = given(v.alpha),
                           .beta = given(v.beta),
                           .lda = written(lda, m),
                           .incx = written(v.incx, 1),
                           .incy = written(v.incy, 1)},
                   a, apply_op(trans, a.now()), v);
  }
};
TYPED_TEST_SUITE(level2, full_elements, element_names);
TROUPE_SUITE_LIKE(level2, level2_real, real_elements);
TROUPE_SUITE_LIKE(level2, level2_complex, complex_elements);

TYPED_TEST(level2, gemv_multiplies_by_a_general_matrix) {
  for (int i = 0; i < 2 * this->rounds && !this->HasFailure(); ++i) this->expect_gemv(this->size(120), this->size(120));
  for (int i = 0; i < 3 && !this->HasFailure(); ++i) {
    this->expect_gemv(this->random.between(300, 600), this->random.between(300, 600));
    this->expect_gemv(this->random.between(1, 3), this->random.between(1, 20000));
    this->expect_gemv(this->random.between(1, 20000), this->random.between(1, 3));
  }
}

TYPED_TEST(level2, gbmv_multiplies_by_a_band) {
  using T = TypeParam;
  for (int i = 0; i < 2 * this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(60), n = this->size(60), kl = this->random.between(0, m + 2),
                       ku = this->random.between(0, n + 2), lda = this->leading(kl + ku + 1);
    const op trans = this->any_op();
    const bool transposed = trans != op::none;
    stored<T> a(band(m, n, kl, ku, lda));
    auto v = this->vectors_for(a, transposed ? m : n, transposed ? n : m);
    this->expect_product(gbmv<T>{.a = a,
                                 .x = v.x,
                                 .y = v.y,
                                 .m = m,
                                 .n = n,
                                 .kl = kl,
                                 .ku = ku,
                                 .trans = trans,
                                 .alpha = this->given(v.alpha),
                                 .beta = this->given(v.beta),
                                 .lda = this->written(lda, kl + ku + 1),
                                 .incx = v.incx,
                                 .incy = v.incy},
                         a, apply_op(trans, a.now()), v);
  }
}

TYPED_TEST(level2, symv_multiplies_by_a_symmetric_matrix) { this->template expect_full<symv, false>(); }
TYPED_TEST(level2_complex, hemv_multiplies_by_a_hermitian_matrix) { this->template expect_full<hemv, true>(); }
TYPED_TEST(level2_real, sbmv_multiplies_by_a_symmetric_band) { this->template expect_band<sbmv, false>(); }
TYPED_TEST(level2_complex, hbmv_multiplies_by_a_hermitian_band) { this->template expect_band<hbmv, true>(); }
TYPED_TEST(level2_real, spmv_multiplies_by_a_packed_symmetric_matrix) { this->template expect_packed<spmv, false>(); }
TYPED_TEST(level2_complex, hpmv_multiplies_by_a_packed_hermitian_matrix) { this->template expect_packed<hpmv, true>(); }

TYPED_TEST(level2_real, nan_alpha_and_nan_or_infinite_beta_give_the_results_of_the_definition) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T alpha : {nan, T(0), T(2)})
    for (const T beta : {nan, inf, T(0), T(1), T(-1)})
      for (const std::int64_t n : {1, 3, 17, 64, 100}) {
        stored<T> a(general(n, n, n)), x(vector_of(n, 1)), y(vector_of(n, 1));
        const auto again = [&] { a.fill(this->random), x.fill(this->random), y.fill(this->random); };
        again();
        this->expect(gemv<T>{.a = a, .x = x, .y = y, .m = n, .n = n, .alpha = alpha, .beta = beta}, y,
                     reference::product(alpha, a.now(), x.now(), beta, y.now()), a, x);
        again();
        this->expect(symv<T>{.a = a, .x = x, .y = y, .n = n, .alpha = alpha, .beta = beta}, y,
                     reference::product(alpha, a.now().completed(true, false), x.now(), beta, y.now()), a, x);
      }
}

TYPED_TEST(level2, requests_have_the_same_bits_when_coalesced_as_alone) {
  using T = TypeParam;
  struct one {
    stored<T> a, x, y, alone;
    dense before;
  };
  std::deque<one> all;
  std::vector<gemv<T>> requests;
  for (int i = 0; i < 30; ++i) {
    // Uses extents up to 96 by 96, the largest product that shares a call.
    const std::int64_t m = this->size(96), n = this->size(96), lda = this->leading(m), incx = this->increment(),
                       incy = this->increment();
    const op trans = this->any_op();
    const bool transposed = trans != op::none;
    const T alpha = this->template factor<T>(), beta = this->template factor<T>();
    const layout where_y = vector_of(transposed ? n : m, incy);
    auto& v = all.emplace_back(one{stored<T>(general(m, n, lda)), stored<T>(vector_of(transposed ? m : n, incx)),
                                   stored<T>(where_y), stored<T>(where_y), dense(0, 0)});
    v.a.fill(this->random), v.x.fill(this->random), v.y.fill(this->random);
    v.alone = v.y, v.before = v.y.now();
    requests.push_back({.a = v.a,
                        .x = v.x,
                        .y = v.y,
                        .m = m,
                        .n = n,
                        .trans = trans,
                        .alpha = this->given(alpha),
                        .beta = this->given(beta),
                        .lda = this->written(lda, m),
                        .incx = incx,
                        .incy = incy});
    gemv<T> alone = requests.back();
    alone.y = v.alone;
    this->run(alone);
  }
  ASSERT_EQ(this->engine->run_together(requests).size(), requests.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& v = all[i];
    SCOPED_TRACE(this->story(requests[i]));
    EXPECT_EQ(std::memcmp(v.y.data(), v.alone.data(), sizeof(T) * static_cast<std::size_t>(v.y.where().span)), 0);
    EXPECT_TRUE(
        all_agree(v.y, reference::product(number(requests[i].alpha.load()), apply_op(requests[i].trans, v.a.now()),
                                          v.x.now(), number(requests[i].beta.load()), v.before)));
    EXPECT_TRUE(v.y.untouched_outside());
  }
}

}  // namespace
}  // namespace troupe::blas
