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

  using parameters = request_parameters<T>;

  struct operands {
    stored<T> a, x, y;
  };
  operands operands_for(const parameters& p, const layout& a, std::int64_t nx, std::int64_t ny) {
    operands o{stored<T>(a), stored<T>(vector_of(nx, p.incx)), stored<T>(vector_of(ny, p.incy))};
    // If a factor is 0, its operand is not read: it stays NaN.
    if (!(p.alpha == T(0))) o.a.fill(random), o.x.fill(random);
    if (!(p.beta == T(0))) o.y.fill(random);
    return o;
  }
  // `meant` is the full matrix that A represents.
  template <class R>
  void expect_product(const R& r, const parameters& p, const dense& meant, operands& o) {
    expect(r, o.y, reference::product(p.alpha, meant, o.x.now(), p.beta, o.y.now()), o.a, o.x);
  }

  template <template <class> class R, bool Hermitian>
  void expect_symmetric(const parameters& p, const layout& a) {
    auto o = operands_for(p, a, p.n, p.n);
    expect_product(make_request<R<T>>(p, o.a, o.x, o.y), p, o.a.now().completed(p.lower(), Hermitian), o);
  }
  template <template <class> class R, bool Hermitian>
  void expect_full() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(100);
      const auto p = any_parameters<T>(n, n);
      expect_symmetric<R, Hermitian>(p, triangle_of(p.lower(), false, n, p.lda));
    }
  }
  template <template <class> class R, bool Hermitian>
  void expect_band() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(60), k = random.between(0, n + 2);
      auto p = any_parameters<T>(n, n, k);
      p.lda = leading(k + 1);
      expect_symmetric<R, Hermitian>(p, band_triangle(p.lower(), false, n, k, p.lda));
    }
  }
  template <template <class> class R, bool Hermitian>
  void expect_packed() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(60);
      const auto p = any_parameters<T>(n, n);
      expect_symmetric<R, Hermitian>(p, packed_triangle(p.lower(), false, n));
    }
  }
  void expect_gemv(std::int64_t m, std::int64_t n) {
    const auto p = any_parameters<T>(m, n);
    auto o = operands_for(p, general(m, n, p.lda), p.size_x(), p.size_y());
    expect_product(make_request<gemv<T>>(p, o.a, o.x, o.y), p, apply_op(p.trans, o.a.now()), o);
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
                       ku = this->random.between(0, n + 2);
    auto p = this->template any_parameters<T>(m, n);
    p.lda = this->leading(kl + ku + 1);
    auto o = this->operands_for(p, band(m, n, kl, ku, p.lda), p.size_x(), p.size_y());
    const gbmv<T> r{.a = o.a, .x = o.x, .y = o.y, .m = m, .n = n, .kl = kl, .ku = ku};
    this->expect_product(this->with_options(r, p), p, apply_op(p.trans, o.a.now()), o);
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
    const auto p = this->template any_parameters_up_to<T>(96);
    const layout where_y = vector_of(p.size_y(), p.incy);
    auto& v = all.emplace_back(one{stored<T>(general(p.m, p.n, p.lda)), stored<T>(vector_of(p.size_x(), p.incx)),
                                   stored<T>(where_y), stored<T>(where_y), dense(0, 0)});
    v.a.fill(this->random), v.x.fill(this->random), v.y.fill(this->random);
    v.alone = v.y, v.before = v.y.now();
    requests.push_back(this->template make_request<gemv<T>>(p, v.a, v.x, v.y));
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
