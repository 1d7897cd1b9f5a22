// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A factorization is correct if the product of its factors is the matrix; a solution, if the matrix maps it to the
// right-hand side; an inverse, if its product with the matrix is 1.
#include <troupe/blas/factorizations.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class factorizations : public blas_numerics {
 protected:
  using real = real_of<T>;
  static constexpr int rounds = 30;

  // A batch of matrices of one order, far from singular. If rows are `mixed`, their large elements can be anywhere, so
  // pivoting must swap rows.
  struct batch {
    std::int64_t m, n, ld;
    std::deque<stored<T>> all;
    template <access_mode M>
    std::vector<operand<T, M>> list() {
      std::vector<operand<T, M>> out;
      for (auto& one : all) out.push_back(one);
      return out;
    }
  };
  batch matrices(std::int64_t count, std::int64_t m, std::int64_t n, bool mixed = false) {
    batch b{m, n, leading(m), {}};
    for (std::int64_t i = 0; i < count; ++i) {
      auto& one = b.all.emplace_back(general(m, n, b.ld));
      one.fill(random);
      dense values = one.now();
      for (std::int64_t j = 0; j < std::min(m, n); ++j)
        values(j, j) = values(j, j) + number(values(j, j).re < 0 ? -n : n);
      if (mixed)
        for (std::int64_t i = m - 1; i > 0; --i) {
          const std::int64_t other = random.between(0, i);
          for (std::int64_t j = 0; j < n; ++j) std::swap(values(i, j), values(other, j));
        }
      one.set(values);
    }
    return b;
  }
  struct places {
    std::vector<std::int32_t> values;
    explicit places(std::int64_t n) : values(static_cast<std::size_t>(n), -77) {}
    template <access_mode M>
    operator operand<std::int32_t, M>() {
      return {reinterpret_cast<std::uintptr_t>(values.data()), values.size()};
    }
  };

  // Compares the result of a backward-stable computation: |got - want| must be at most a modest multiple of the
  // magnitudes of the operands.
  static ::testing::AssertionResult close(const answers& got, const dense& want, std::int64_t n) {
    for (std::int64_t j = 0; j < want.columns(); ++j)
      for (std::int64_t i = 0; i < want.rows(); ++i) {
        const wide off = (got(i, j).value - want(i, j)).size();
        const wide limit = 16 * static_cast<wide>(n + 2) * widen(std::numeric_limits<real>::epsilon()) *
                           (got(i, j).magnitude + want(i, j).size());
        if (!(off <= limit))
          return ::testing::AssertionFailure()
                 << "(" << i << ", " << j << ") is " << numerics::detail::digits(got(i, j).value) << ", expected "
                 << numerics::detail::digits(want(i, j)) << ", limit " << static_cast<double>(limit);
      }
    return ::testing::AssertionSuccess();
  }
  // Returns the Euclidean length of column j.
  static wide length(const dense& a, std::int64_t j) {
    wide sum = 0;
    for (std::int64_t i = 0; i < a.rows(); ++i) sum += a(i, j).size() * a(i, j).size();
    return std::sqrt(sum);
  }
  static dense identity(std::int64_t n) { return dense(n, n).with_unit_diagonal(); }

  // Return L and U of one matrix.
  static dense lower(const dense& f) {
    dense l = identity(f.rows());
    for (std::int64_t j = 0; j < f.columns(); ++j)
      for (std::int64_t i = j + 1; i < f.rows(); ++i) l(i, j) = f(i, j);
    return l;
  }
  static dense upper(const dense& f) {
    dense u(f.columns(), f.columns());
    for (std::int64_t j = 0; j < f.columns(); ++j)
      for (std::int64_t i = 0; i <= j; ++i) u(i, j) = f(i, j);
    return u;
  }
  // Swaps rows in the order of the pivots.
  static dense permuted(dense a, const std::int32_t* pivots) {
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t j = 0; j < a.columns(); ++j) std::swap(a(i, j), a(pivots[i] - 1, j));
    return a;
  }
};
TYPED_TEST_SUITE(factorizations, full_elements, element_names);

TYPED_TEST(factorizations, getrf_getrs_and_getri_factor_solve_and_invert_with_and_without_pivots) {
  using T = TypeParam;
  std::size_t moved = 0;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    // The first matrices are so large that rows are swapped; the others have any order.
    const std::int64_t n = i == 0 ? 40 + this->size(50) : this->size(40), nrhs = this->size(20),
                       count = i == 0 ? 4 + this->size(8) : this->size(i == 1 ? 200 : 12);
    const bool pivoting = i % 2 == 0;
    auto a = this->matrices(count, n, n, pivoting), b = this->matrices(count, n, nrhs),
         inverse = this->matrices(count, n, n);
    typename TestFixture::places info(count), pivots(n * count);
    std::optional<out<std::int32_t>> write_pivots;
    std::optional<in<std::int32_t>> read_pivots;
    if (pivoting) write_pivots = out<std::int32_t>(pivots), read_pivots = in<std::int32_t>(pivots);

    this->run(getrf_batched<T>{.a = a.template list<access_mode::read_write>(),
                               .pivots = write_pivots,
                               .info = info,
                               .n = n,
                               .lda = this->written(a.ld, n)});
    for (std::int64_t l = 0; l < count; ++l) {
      auto& one = a.all[static_cast<std::size_t>(l)];
      EXPECT_EQ(info.values[static_cast<std::size_t>(l)], 0);
      EXPECT_TRUE(one.untouched_outside());
      const dense before = one.before(),
                  meant = pivoting ? this->permuted(before, pivots.values.data() + l * n) : before;
      EXPECT_TRUE(this->close(reference::product(this->lower(one.now()), this->upper(one.now())), meant, n))
          << how_to_repeat();
    }
    if (pivoting)
      for (std::int64_t l = 0; l < n * count; ++l) moved += pivots.values[static_cast<std::size_t>(l)] != l % n + 1;

    const op trans = this->any_op();
    this->run(getrs_batched<T>{.a = a.template list<access_mode::read>(),
                               .pivots = read_pivots,
                               .b = b.template list<access_mode::read_write>(),
                               .n = n,
                               .nrhs = nrhs,
                               .trans = trans,
                               .lda = a.ld,
                               .ldb = this->written(b.ld, n)});
    this->run(getri_batched<T>{.a = a.template list<access_mode::read>(),
                               .pivots = read_pivots,
                               .c = inverse.template list<access_mode::write>(),
                               .info = info,
                               .n = n,
                               .lda = a.ld,
                               .ldc = this->written(inverse.ld, n)});
    for (std::size_t l = 0; l < a.all.size(); ++l) {
      const dense before = a.all[l].before();
      EXPECT_TRUE(this->close(reference::product(apply_op(trans, before), b.all[l].now()), b.all[l].before(), n));
      EXPECT_TRUE(this->close(reference::product(before, inverse.all[l].now()), this->identity(n), n));
      EXPECT_TRUE(b.all[l].untouched_outside());
      EXPECT_TRUE(inverse.all[l].untouched_outside());
      EXPECT_EQ(info.values[l], 0);
    }
  }
  EXPECT_GT(moved, 100u) << "rows that were swapped";
}

TYPED_TEST(factorizations, matinv_inverts_in_one_step_and_keeps_its_input) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(50), count = this->size(20);
    auto a = this->matrices(count, n, n, true), c = this->matrices(count, n, n);
    if (i % 2 == 0 && n > 1)  // the first diagonal element cannot be a pivot
      for (auto& one : a.all) {
        dense values = one.now();
        if (values(0, 0).size() >= static_cast<wide>(n))  // the large element of its row and of its column
          for (std::int64_t j = 0; j < n; ++j) std::swap(values(0, j), values(1, j));
        values(0, 0) = 0;
        one.set(values);
      }
    typename TestFixture::places info(count);
    this->run(matinv_batched<T>{.a = a.template list<access_mode::read>(),
                                .c = c.template list<access_mode::write>(),
                                .info = info,
                                .n = n,
                                .lda = this->written(a.ld, n),
                                .ldc = this->written(c.ld, n)});
    for (std::size_t l = 0; l < a.all.size(); ++l) {
      EXPECT_TRUE(this->close(reference::product(a.all[l].now(), c.all[l].now()), this->identity(n), n))
          << how_to_repeat();
      EXPECT_TRUE(a.all[l].untouched());
      EXPECT_TRUE(c.all[l].untouched_outside());
      EXPECT_EQ(info.values[l], 0);
    }
  }
}

TYPED_TEST(factorizations, info_names_the_first_zero_pivot_and_other_matrices_succeed) {
  using T = TypeParam;
  constexpr std::int64_t n = 5, bad = 3;
  for (const bool pivoting : {true, false}) {
    auto a = this->matrices(3, n, n), c = this->matrices(3, n, n);
    dense singular(n, n);
    for (std::int64_t i = 0; i < n; ++i) singular(i, i) = i == bad ? 0 : 2;
    a.all[1].set(singular);
    typename TestFixture::places info(3), pivots(3 * n);
    std::optional<out<std::int32_t>> write_pivots;
    std::optional<in<std::int32_t>> read_pivots;
    if (pivoting) write_pivots = out<std::int32_t>(pivots), read_pivots = in<std::int32_t>(pivots);
    this->run(matinv_batched<T>{.a = a.template list<access_mode::read>(),
                                .c = c.template list<access_mode::write>(),
                                .info = info,
                                .n = n,
                                .lda = a.ld,
                                .ldc = c.ld});
    EXPECT_EQ(info.values, (std::vector<std::int32_t>{0, bad + 1, 0}));
    this->run(getrf_batched<T>{
        .a = a.template list<access_mode::read_write>(), .pivots = write_pivots, .info = info, .n = n, .lda = a.ld});
    EXPECT_EQ(info.values, (std::vector<std::int32_t>{0, bad + 1, 0})) << pivoting;
    this->run(getri_batched<T>{.a = a.template list<access_mode::read>(),
                               .pivots = read_pivots,
                               .c = c.template list<access_mode::write>(),
                               .info = info,
                               .n = n,
                               .lda = a.ld,
                               .ldc = c.ld});
    EXPECT_EQ(info.values, (std::vector<std::int32_t>{0, bad + 1, 0})) << pivoting;
  }
}

// The host engine refuses wrong pivots. The CUDA engine cannot, because only the GPU reads them.
TYPED_TEST(factorizations, invalid_pivots_are_refused_or_make_their_solution_nan) {
  using T = TypeParam;
  constexpr std::int64_t n = 3, count = 2;
  struct {
    std::size_t index;
    std::int32_t value;
    const char* text;
  } const wrong[] = {
      {0, 0, "pivots[0], which is number 1 of matrix a[0], is 0; expected 1 to 3, as getrf_batched writes it"},
      {1, 11, "pivots[1], which is number 2 of matrix a[0], is 11; expected 2 to 3, as getrf_batched writes it"},
      {4, 1, "pivots[4], which is number 2 of matrix a[1], is 1; expected 2 to 3, as getrf_batched writes it"},
      {5, 4, "pivots[5], which is number 3 of matrix a[1], is 4; expected 3 to 3, as getrf_batched writes it"},
      {3, -1, "pivots[3], which is number 1 of matrix a[1], is -1; expected 1 to 3, as getrf_batched writes it"}};
  for (const auto& w : wrong) {
    auto a = this->matrices(count, n, n), b = this->matrices(count, n, 2);
    typename TestFixture::places info(count), pivots(n * count);
    pivots.values = {2, 3, 3, 1, 2, 3};
    pivots.values[w.index] = w.value;
    const in<std::int32_t> read_pivots = pivots;
    const auto refused = [&](const auto& r) {
      const auto done = this->engine->run(r);
      if (std::string_view(this->engine->interface().backend) != "host") {
        ASSERT_TRUE(done) << done.error().to_string();
        for (std::size_t l = 0; l < count; ++l) {
          EXPECT_TRUE(a.all[l].untouched());
          EXPECT_TRUE(b.all[l].untouched_outside());
          const dense result = b.all[l].now();
          const bool wrong_ones = l == w.index / n;
          b.all[l].each(
              [&](auto i, auto j) { EXPECT_EQ(result(i, j).is_nan(), wrong_ones) << l << ": " << i << ", " << j; });
        }
        return;
      }
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().reaction(), reaction::caller_bug);
      EXPECT_EQ(done.error().text(), std::string(name_of<std::remove_cvref_t<decltype(r)>>()) + ": " + w.text);
      for (std::size_t l = 0; l < count; ++l) {
        EXPECT_TRUE(a.all[l].untouched());
        EXPECT_TRUE(b.all[l].untouched());
        EXPECT_EQ(info.values[l], -77);
      }
    };
    refused(getrs_batched<T>{.a = a.template list<access_mode::read>(),
                             .pivots = read_pivots,
                             .b = b.template list<access_mode::read_write>(),
                             .n = n,
                             .nrhs = 2,
                             .lda = a.ld,
                             .ldb = b.ld});
    b = this->matrices(count, n, n);
    refused(getri_batched<T>{.a = a.template list<access_mode::read>(),
                             .pivots = read_pivots,
                             .c = b.template list<access_mode::write>(),
                             .info = info,
                             .n = n,
                             .lda = a.ld,
                             .ldc = b.ld});
  }
}

TYPED_TEST(factorizations, pivots_are_valid_even_with_nan_infinities_and_zeros) {
  using T = TypeParam;
  using real = typename TestFixture::real;
  constexpr real nan = std::numeric_limits<real>::quiet_NaN(), inf = std::numeric_limits<real>::infinity();
  for (const std::int64_t n : {1, 2, 3, 17, 64, 150})
    for (const real value : {nan, inf, real(0)})
      for (const bool everywhere : {true, false}) {
        auto a = this->matrices(2, n, n), b = this->matrices(2, n, 1);
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            if (everywhere || this->random.between(0, 3) == 0) a.all[0].at(i, j) = T(value);
        typename TestFixture::places info(2), pivots(2 * n);
        this->run(getrf_batched<T>{.a = a.template list<access_mode::read_write>(),
                                   .pivots = out<std::int32_t>(pivots),
                                   .info = info,
                                   .n = n,
                                   .lda = a.ld});
        for (std::size_t l = 0; l < 2; ++l) EXPECT_TRUE(a.all[l].untouched_outside()) << n << ", " << value;
        this->run(getrs_batched<T>{.a = a.template list<access_mode::read>(),
                                   .pivots = in<std::int32_t>(pivots),
                                   .b = b.template list<access_mode::read_write>(),
                                   .n = n,
                                   .nrhs = 1,
                                   .lda = a.ld,
                                   .ldb = b.ld});
        EXPECT_EQ(info.values[1], 0);
      }
}

TYPED_TEST(factorizations, pivots_with_a_reciprocal_out_of_range_are_divided_by) {
  using T = TypeParam;
  using real = typename TestFixture::real;
  using limits = std::numeric_limits<real>;
  for (const real size : {limits::denorm_min() * 1024, limits::min() / 2, limits::min(), real(1), limits::max() / 8}) {
    // cuBLAS multiplies by the reciprocal instead, as docs/blas.md says.
    if (this->engine->is_cuda() && size < 1 / limits::max()) continue;
    std::vector<T> pivots = {T(size)};
    if constexpr (is_complex<T>) pivots = {T(size), T(0, size), T(size, -size), T(size / 2, size)};
    for (const T pivot : pivots) {
      // [p p; 2p 5p] = [1; 2] * [p p; 0 3p].
      auto a = this->matrices(1, 2, 2);
      const number p = pivot;
      dense values(2, 2);
      values(0, 0) = p, values(0, 1) = p, values(1, 0) = number(2) * p, values(1, 1) = number(5) * p;
      a.all[0].set(values);
      typename TestFixture::places info(1);
      this->run(getrf_batched<T>{.a = a.template list<access_mode::read_write>(), .info = info, .n = 2, .lda = a.ld});
      const dense got = a.all[0].now();
      const wide limit = 16 * widen(limits::epsilon());
      const std::string story = numerics::detail::digits(p);
      EXPECT_LE((got(1, 0) - number(2)).size(), limit) << story << ": " << numerics::detail::digits(got(1, 0));
      EXPECT_LE((got(1, 1) - number(3) * p).size(), limit * 5 * p.size() + 4 * widen(limits::denorm_min())) << story;
      EXPECT_EQ(info.values[0], 0);
    }
  }
}

TYPED_TEST(factorizations, geqrf_returns_factors_that_multiply_to_the_matrix) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(40), n = this->size(40), k = std::min(m, n), count = this->size(12);
    auto a = this->matrices(count, m, n);
    std::deque<stored<T>> tau;
    std::vector<out<T>> taus;
    for (std::int64_t l = 0; l < count; ++l) taus.push_back(tau.emplace_back(vector_of(k, 1)));
    this->run(geqrf_batched<T>{
        .a = a.template list<access_mode::read_write>(), .tau = taus, .m = m, .n = n, .lda = this->written(a.ld, m)});
    for (std::size_t l = 0; l < a.all.size(); ++l) {
      // Computes Q R by applying the reflectors 1 - tau v v' to R, the last one first.
      const dense f = a.all[l].now();
      dense r(m, n);
      for (std::int64_t q = 0; q < n; ++q)
        for (std::int64_t p = 0; p <= std::min(q, m - 1); ++p) r(p, q) = f(p, q);
      for (std::int64_t h = k - 1; h >= 0; --h)
        for (std::int64_t q = 0; q < n; ++q) {
          const auto v = [&](std::int64_t p) { return p == h ? number(1) : f(p, h).conjugated(); };
          number sum = 0;
          for (std::int64_t p = h; p < m; ++p) sum = sum + v(p) * r(p, q);
          sum = sum * number(tau[l].at(h));
          for (std::int64_t p = h; p < m; ++p) r(p, q) = r(p, q) - v(p).conjugated() * sum;
        }
      const dense before = a.all[l].before();
      answers got(m, n);
      for (std::int64_t q = 0; q < n; ++q)
        for (std::int64_t p = 0; p < m; ++p) got(p, q) = {r(p, q), static_cast<wide>(n), 0};
      EXPECT_TRUE(this->close(got, before, m)) << how_to_repeat();
      EXPECT_TRUE(a.all[l].untouched_outside());
      EXPECT_TRUE(tau[l].untouched_outside());
    }
  }
}

TYPED_TEST(factorizations, gels_leaves_a_residual_that_is_orthogonal_to_the_columns) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(20), m = n + this->size(20) - 1, nrhs = this->size(10), count = this->size(12);
    auto a = this->matrices(count, m, n), c = this->matrices(count, m, nrhs);
    typename TestFixture::places info(count);
    this->run(gels_batched<T>{.a = a.template list<access_mode::read_write>(),
                              .c = c.template list<access_mode::read_write>(),
                              .info = info,
                              .m = m,
                              .n = n,
                              .nrhs = nrhs,
                              .lda = this->written(a.ld, m),
                              .ldc = this->written(c.ld, m)});
    for (std::size_t l = 0; l < a.all.size(); ++l) {
      EXPECT_EQ(info.values[l], 0);
      const dense before = a.all[l].before(), all = c.all[l].now(), adjoint = before.transposed().conjugated();
      dense x(n, nrhs);
      for (std::int64_t q = 0; q < nrhs; ++q)
        for (std::int64_t p = 0; p < n; ++p) x(p, q) = all(p, q);
      // A' (A x - c) = 0. The computed x solves a problem whose columns and right-hand sides are off by a modest
      // multiple of their lengths (Higham, Accuracy and Stability, theorem 20.3). So the residual is small compared
      // with the products of lengths, however much of A' c cancels.
      const dense right = c.all[l].before();
      const answers ax = reference::product(before, x);
      dense residual(m, nrhs);
      for (std::int64_t q = 0; q < nrhs; ++q)
        for (std::int64_t p = 0; p < m; ++p) residual(p, q) = ax(p, q).value - right(p, q);
      answers left = reference::product(adjoint, residual);
      for (std::int64_t q = 0; q < nrhs; ++q) {
        wide sizes = this->length(right, q);
        for (std::int64_t j = 0; j < n; ++j) sizes += this->length(before, j) * x(j, q).size();
        for (std::int64_t p = 0; p < n; ++p) left(p, q).magnitude = this->length(before, p) * sizes;
      }
      EXPECT_TRUE(this->close(left, dense(n, nrhs), m)) << how_to_repeat();
      EXPECT_TRUE(a.all[l].untouched_outside());
      EXPECT_TRUE(c.all[l].untouched_outside());
    }
  }
  auto a = this->matrices(2, 3, 2), c = this->matrices(2, 3, 1);
  a.all[1].set(dense(3, 2));
  typename TestFixture::places info(2);
  this->run(gels_batched<T>{.a = a.template list<access_mode::read_write>(),
                            .c = c.template list<access_mode::read_write>(),
                            .info = info,
                            .m = 3,
                            .n = 2,
                            .nrhs = 1,
                            .lda = a.ld,
                            .ldc = c.ld});
  EXPECT_EQ(info.values[0], 0);
  EXPECT_EQ(info.values[1], 1) << "the matrix does not have full rank";
}

TYPED_TEST(factorizations, gels_returns_the_factors_of_geqrf_and_solves_at_any_scale) {
  using T = TypeParam;
  using limits = std::numeric_limits<typename TestFixture::real>;
  constexpr std::int64_t m = 7, n = 4;
  // Scales near the limits of the type, where LAPACK's own gels would factor a multiple of the matrix.
  for (const int exponent : {limits::min_exponent + 12, 0, limits::max_exponent - 12}) {
    if (this->engine->is_cuda() && exponent != 0) continue;  // cuBLAS does not scale, as docs/blas.md says
    const auto scaled = [&](dense d) {
      for (std::int64_t j = 0; j < d.columns(); ++j)
        for (std::int64_t i = 0; i < d.rows(); ++i) d(i, j) = d(i, j) * number(std::ldexp(wide(1), exponent), 0);
      return d;
    };
    auto a = this->matrices(2, m, n), c = this->matrices(2, m, 1);
    for (auto& one : a.all) one.set(scaled(one.now()));
    for (auto& one : c.all) {  // C = A times (1, 2 ...), so the solution is (1, 2 ...)
      dense x(n, 1);
      for (std::int64_t i = 0; i < n; ++i) x(i) = i + 1;
      const answers ax = reference::product(a.all[static_cast<std::size_t>(&one != &c.all[0])].now(), x);
      dense right(m, 1);
      for (std::int64_t i = 0; i < m; ++i) right(i) = ax(i).value;
      one.set(right);
    }
    auto factored = a;
    std::deque<stored<T>> tau;
    std::vector<out<T>> taus;
    for (int l = 0; l < 2; ++l) taus.push_back(tau.emplace_back(vector_of(n, 1)));
    this->run(geqrf_batched<T>{
        .a = factored.template list<access_mode::read_write>(), .tau = taus, .m = m, .n = n, .lda = a.ld});
    typename TestFixture::places info(2);
    this->run(gels_batched<T>{.a = a.template list<access_mode::read_write>(),
                              .c = c.template list<access_mode::read_write>(),
                              .info = info,
                              .m = m,
                              .n = n,
                              .nrhs = 1,
                              .lda = a.ld,
                              .ldc = c.ld});
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_EQ(info.values[l], 0);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < m; ++i) {
          const number here(a.all[l].at(i, j)), there(factored.all[l].at(i, j));
          if (this->engine->is_cuda())  // cuBLAS uses two algorithms
            EXPECT_LE((here - there).size(), 200 * widen(limits::epsilon()));
          else
            EXPECT_TRUE(here == there) << exponent;
        }
        EXPECT_LE((number(c.all[l].at(j)) - number(j + 1)).size(), 200 * widen(limits::epsilon())) << exponent;
      }
    }
  }
}

}  // namespace
}  // namespace troupe::blas
