// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Operations on vectors, compared with a reference of higher precision: random lengths, increments and factors.
#include <algorithm>
#include <numeric>
#include <troupe/blas/level1/level1.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class level1 : public blas_numerics {
 protected:
  static constexpr int rounds = 250;
  std::int64_t length() { return size(random.between(0, 9) == 0 ? 25000 : 300); }

  struct vectors {
    request_parameters<T> p;
    stored<T> x, y;
  };
  // Returns two vectors of equal length, without values.
  vectors any_vectors() {
    const std::int64_t n = length();
    const auto p = any_parameters<T>(n, n);
    return {p, stored<T>(vector_of(n, p.incx)), stored<T>(vector_of(n, p.incy))};
  }

  // Checks a reduction of one vector, with its reply and its result in memory.
  template <class R, class Want>
  void expect_reply(const R& r, const Want& want) {
    using reply = reply_to<R>;
    SCOPED_TRACE(story(r));
    const auto got = engine->run(r);
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_TRUE(one_agrees<reply>(*got, want));
    stored<reply> place(vector_of(1, 1));
    R into = r;
    into.result = out<reply>(place);
    const auto again = engine->run(into);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(place.at(0), *again);
    EXPECT_TRUE(one_agrees<reply>(place.at(0), want));
    EXPECT_TRUE(place.untouched_outside());
  }
};
TYPED_TEST_SUITE(level1, full_elements, element_names);
TROUPE_SUITE_LIKE(level1, level1_real, real_elements);
TROUPE_SUITE_LIKE(level1, level1_complex, complex_elements);

TYPED_TEST(level1, axpy_adds_a_multiple) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    auto [p, x, y] = this->any_vectors();
    if (!(p.alpha == T(0))) x.fill(this->random);
    y.fill(this->random);
    this->expect(this->template make_request<axpy<T>>(p, x, y), y, reference::sum(p.alpha, x.now(), 1, y.now()), x);
  }
}

TYPED_TEST(level1, axpby_adds_a_multiple_to_a_multiple) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    auto [p, x, y] = this->any_vectors();
    if (!(p.alpha == T(0))) x.fill(this->random);  // otherwise x stays NaN
    if (!(p.beta == T(0))) y.fill(this->random);
    this->expect(this->template make_request<axpby<T>>(p, x, y), y, reference::sum(p.alpha, x.now(), p.beta, y.now()),
                 x);
  }
}

TYPED_TEST(level1_real, axpby_with_nan_or_infinite_alpha_and_beta_gives_the_results_of_the_definition) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T alpha : {nan, inf, T(0), T(2)})
    for (const T beta : {nan, inf, T(0), T(1), T(-1)})
      for (const std::int64_t n : {3, 40, 1000})
        for (const std::int64_t inc : {1, -3}) {
          stored<T> x(vector_of(n, inc)), y(vector_of(n, 1));
          x.fill(this->random);
          y.fill(this->random);
          this->expect(axpby<T>{.x = x, .y = y, .n = n, .alpha = alpha, .beta = beta, .incx = inc}, y,
                       reference::sum(alpha, x.now(), beta, y.now()), x);
        }
}

TYPED_TEST(level1, scal_multiplies_whatever_the_sign_of_the_increment) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->length(), inc = this->increment();
    stored<T> x(vector_of(n, inc));
    x.fill(this->random);
    const T alpha = this->template factor<T>();
    this->expect(scal<T>{.x = x, .n = n, .alpha = this->given(alpha), .incx = this->written(inc, 1)}, x,
                 reference::scaled(alpha, x.now()));
  }
}

TYPED_TEST(level1_complex, scal_also_takes_a_real_alpha) {
  using T = TypeParam;
  using F = real_of<T>;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->length(), inc = this->increment();
    stored<T> x(vector_of(n, inc));
    x.fill(this->random);
    const F alpha = this->template factor<F>();
    this->expect(scal<T, F>{.x = x, .n = n, .alpha = this->given(alpha), .incx = this->written(inc, 1)}, x,
                 reference::scaled(alpha, x.now()));
  }
}

TYPED_TEST(level1_real, scal_always_multiplies) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T alpha : {T(0), nan, inf, T(2)})
    for (const std::int64_t n : {3, 40, 1000})
      for (const std::int64_t inc : {1, -3}) {
        stored<T> x(vector_of(n, inc));
        x.fill(this->random);
        x.at(0) = nan, x.at(1) = inf, x.at(2) = 0;
        this->expect(scal<T>{.x = x, .n = n, .alpha = alpha, .incx = inc}, x, reference::scaled(alpha, x.now()));
      }
}

TYPED_TEST(level1, copy_and_swap_move_every_element) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    auto [p, x, y] = this->any_vectors();
    x.fill(this->random);
    const answers old_x = reference::scaled(1, x.now());
    this->expect(this->template make_request<copy<T>>(p, x, y), y, old_x, x);
    y.fill(this->random);
    const answers old_y = reference::scaled(1, y.now());
    this->expect(this->template make_request<blas::swap<T>>(p, x, y), y, old_x);
    EXPECT_TRUE(all_agree(x, old_y));
    EXPECT_TRUE(x.untouched_outside());
  }
}

// Returns the sum of the products of x and y.
dense across(const dense& x, bool conjugated) { return conjugated ? x.transposed().conjugated() : x.transposed(); }

TYPED_TEST(level1_real, dot_sums_products) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    auto [p, x, y] = this->any_vectors();
    x.fill(this->random);
    y.fill(this->random);
    this->expect_reply(this->template make_request<dot<T>>(p, x, y),
                       reference::product(across(x.now(), false), y.now())(0));
    EXPECT_TRUE(x.untouched());
    EXPECT_TRUE(y.untouched());
  }
}

TYPED_TEST(level1_complex, dotu_and_dotc_sum_products) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    auto [p, x, y] = this->any_vectors();
    x.fill(this->random);
    y.fill(this->random);
    this->expect_reply(this->template make_request<dotu<T>>(p, x, y),
                       reference::product(across(x.now(), false), y.now())(0));
    this->expect_reply(this->template make_request<dotc<T>>(p, x, y),
                       reference::product(across(x.now(), true), y.now())(0));
  }
}

TYPED_TEST(level1_real, dot_of_a_vector_with_itself_is_its_squared_length) {
  using T = TypeParam;
  stored<T> x(vector_of(2, 1));
  x.at(0) = 3, x.at(1) = 4;
  const auto got = this->engine->run(dot<T>{.x = x, .y = x, .n = 2});
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(*got, T(25));
}

expected norm_of(const dense& x, wide scale = 1) {
  wide squares = 0;
  for (std::int64_t i = 0; i < x.rows(); ++i)
    squares += x(i).re / scale * (x(i).re / scale) + x(i).im / scale * (x(i).im / scale);
  const wide norm = std::sqrt(squares) * scale;
  return {norm, norm, 2 * x.rows() + 3};
}

TYPED_TEST(level1, nrm2_and_asum_agree_with_the_reference) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->length(), inc = this->increment();
    stored<T> x(vector_of(n, inc));
    x.fill(this->random);
    this->expect_reply(nrm2<T>{.x = x, .n = n, .incx = this->written(inc, 1)}, norm_of(x.now()));
    expected sum{0, 0, 2 * n};
    const dense values = x.now();
    for (std::int64_t j = 0; j < n; ++j) sum.add(values(j).size(), values(j).size());
    this->expect_reply(asum<T>{.x = x, .n = n, .incx = this->written(inc, 1)}, sum);
    EXPECT_TRUE(x.untouched());
  }
}

TYPED_TEST(level1, nrm2_has_no_intermediate_overflow_or_underflow) {
  using T = TypeParam;
  using real = real_of<T>;
  for (const real scale : {std::numeric_limits<real>::max() / 64, std::numeric_limits<real>::min() * 16, real(1)})
    for (const std::int64_t n : {1, 7, 100}) {
      stored<T> x(vector_of(n, 1));
      x.fill(this->random);
      dense values = x.now();
      for (std::int64_t i = 0; i < n; ++i) values(i) = values(i) * number(widen(scale), 0);
      x.set(values);
      this->expect_reply(nrm2<T>{.x = x, .n = n}, norm_of(x.now(), widen(scale)));
    }
  stored<T> zeros(vector_of(5, 1));
  zeros.set(dense(5, 1));
  this->expect_reply(nrm2<T>{.x = zeros, .n = 5}, expected{0, 0, 1});
}

TYPED_TEST(level1, nrm2_and_asum_of_nan_are_nan_and_of_an_infinity_infinite) {
  using T = TypeParam;
  using real = real_of<T>;
  constexpr real nan = std::numeric_limits<real>::quiet_NaN(), inf = std::numeric_limits<real>::infinity();
  for (const std::int64_t n : {1, 5, 64, 1000}) {
    for (const real bad : {nan, inf, -inf}) {
      stored<T> x(vector_of(n, 1));
      x.fill(this->random);
      x.at(n / 2) = T(bad);
      const auto norm = this->engine->run(nrm2<T>{.x = x, .n = n}), sum = this->engine->run(asum<T>{.x = x, .n = n});
      ASSERT_TRUE(norm && sum);
      const expected want{std::abs(bad), 1, 1};
      EXPECT_TRUE(one_agrees(*norm, want)) << n;
      EXPECT_TRUE(one_agrees(*sum, want)) << n;
    }
  }
}

TYPED_TEST(level1, nrm2_and_asum_of_nan_and_infinities_in_any_order_are_nan) {
  using T = TypeParam;
  using real = real_of<T>;
  constexpr real nan = std::numeric_limits<real>::quiet_NaN(), inf = std::numeric_limits<real>::infinity();
  const auto expect_nan = [this](std::vector<T> x) {
    const auto n = static_cast<std::int64_t>(x.size());
    const in<T> all(reinterpret_cast<std::uintptr_t>(x.data()), x.size());
    for (const std::int64_t inc : {1, -1}) {
      const auto norm = this->engine->run(nrm2<T>{.x = all, .n = n, .incx = inc}),
                 sum = this->engine->run(asum<T>{.x = all, .n = n, .incx = inc});
      ASSERT_TRUE(norm && sum);
      std::string story;
      for (const T& v : x) story += numerics::detail::digits(v) + " ";
      EXPECT_TRUE(std::isnan(*norm)) << story << *norm;
      EXPECT_TRUE(std::isnan(*sum)) << story << *sum;
    }
  };
  for (const std::vector<real>& some : {std::vector<real>{nan, inf}, {3, nan, inf}, {3, nan, -inf, 0}, {0, nan, 2}}) {
    // Checks every order of these values, alone and among other elements.
    auto order = some;
    std::vector<std::size_t> places(some.size());
    std::iota(places.begin(), places.end(), 0u);
    do {
      for (std::size_t i = 0; i < some.size(); ++i) order[i] = some[places[i]];
      std::vector<T> x(order.begin(), order.end());
      expect_nan(x);
      x.insert(x.begin() + 1, 70, T(5));
      expect_nan(x);
    } while (std::next_permutation(places.begin(), places.end()));
  }
  if constexpr (is_complex<T>)
    for (const T both : {T(nan, inf), T(inf, nan), T(nan, -inf), T(nan, 3)})
      for (const std::vector<T>& x : {std::vector<T>{both}, {T(1), both}, {both, T(1)}}) expect_nan(x);
}

// Finds the first largest or smallest element with a plain loop.
std::int64_t place_of_extremum(const dense& x, bool largest) {
  std::int64_t best = -1;
  for (std::int64_t i = 0; i < x.rows(); ++i)
    if (!x(i).is_nan() && (best < 0 || (largest ? x(i).size() > x(best).size() : x(i).size() < x(best).size())))
      best = i;
  return std::max<std::int64_t>(best, 0);
}

TYPED_TEST(level1, iamax_and_iamin_find_the_first_extremum_and_ignore_nan) {
  using T = TypeParam;
  using real = real_of<T>;
  for (int i = 0; i < 2 * this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->length(), inc = this->increment();
    stored<T> x(vector_of(n, inc));
    // Uses few different values, so that many are equal; some are NaN or infinite.
    for (std::int64_t j = 0; j < n; ++j) {
      const auto v = static_cast<real>(this->random.between(-3, 3));
      x.at(j) = this->random.between(0, 9) == 0 ? poison<T>() : T(v);
      if (this->random.between(0, 400) == 0) x.at(j) = T(std::numeric_limits<real>::infinity());
    }
    if (i % 50 == 0)
      for (std::int64_t j = 0; j < n; ++j) x.at(j) = poison<T>();
    x.remember();
    for (const bool largest : {true, false}) {
      stored<std::int64_t> place(vector_of(1, 1));
      const std::optional<out<std::int64_t>> into = out<std::int64_t>(place);
      const auto got = largest ? this->engine->run(iamax<T>{.x = x, .n = n, .incx = inc, .result = into})
                               : this->engine->run(iamin<T>{.x = x, .n = n, .incx = inc, .result = into});
      ASSERT_TRUE(got) << got.error().to_string();
      EXPECT_EQ(*got, place_of_extremum(x.now(), largest)) << n << " elements, increment " << inc << how_to_repeat();
      EXPECT_EQ(place.at(0), *got);
    }
  }
}

TYPED_TEST(level1, requests_have_the_same_bits_when_coalesced_as_alone) {
  using T = TypeParam;
  if (this->engine->find(opcode_of<axpy<T>>)->group == nullptr) GTEST_SKIP() << "this engine runs each by itself";
  std::vector<stored<T>> x, y, alone;
  std::vector<axpy<T>> requests;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t n = this->random.between(1, 400);
    x.emplace_back(vector_of(n, 1)).fill(this->random);
    y.emplace_back(vector_of(n, 1)).fill(this->random);
  }
  alone = y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t n = x[i].where().rows;
    const T alpha = this->template factor<T>();
    requests.push_back({.x = x[i], .y = y[i], .n = n, .alpha = alpha});
    this->run(axpy<T>{.x = x[i], .y = alone[i], .n = n, .alpha = alpha});
  }
  ASSERT_EQ(this->engine->run_together(requests).size(), requests.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(std::memcmp(y[i].data(), alone[i].data(), sizeof(T) * static_cast<std::size_t>(x[i].where().rows)), 0);
  std::vector<nrm2<T>> norms;
  for (auto& v : x) norms.push_back({.x = v, .n = v.where().rows});
  const auto answers = this->engine->run_together(norms);
  ASSERT_EQ(answers.size(), norms.size());
  for (std::size_t i = 0; i < norms.size(); ++i) EXPECT_EQ(*answers[i], *this->engine->run(norms[i]));
}

}  // namespace
}  // namespace troupe::blas
