// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Factorisations are right when their factors multiply to what was factored; solutions and inverses when they take the
// matrix to the right-hand side, and to 1.
#include <troupe/blas/factorizations.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class factorizations : public blas_numerics {
 protected:
  using real = real_of<T>;
  static constexpr int rounds = 30;

  // A batch of matrices of one size, far from singular.
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
  batch matrices(std::int64_t count, std::int64_t m, std::int64_t n) {
    batch b{m, n, leading(m), {}};
    for (std::int64_t i = 0; i < count; ++i) {
      auto& one = b.all.emplace_back(general(m, n, b.ld));
      one.fill(random);
      dense values = one.now();
      for (std::int64_t j = 0; j < std::min(m, n); ++j)
        values(j, j) = values(j, j) + number(values(j, j).re < 0 ? -n : n);
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

  // What is computed backwards stably: |got - want| stays within a modest multiple of the sizes that meet in it.
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
  static dense identity(std::int64_t n) { return dense(n, n).with_unit_diagonal(); }

  // L and U of one matrix.
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
  // The rows change places as the pivots say.
  static dense permuted(dense a, const std::int32_t* pivots) {
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t j = 0; j < a.columns(); ++j) std::swap(a(i, j), a(pivots[i] - 1, j));
    return a;
  }
};
TYPED_TEST_SUITE(factorizations, full_elements, element_names);

TYPED_TEST(factorizations, getrf_getrs_and_getri_factor_solve_and_invert_with_and_without_pivots) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(i == 0 ? 90 : 40), nrhs = this->size(20), count = this->size(i == 1 ? 200 : 12);
    const bool pivoting = i % 2 == 0;
    auto a = this->matrices(count, n, n), b = this->matrices(count, n, nrhs), inverse = this->matrices(count, n, n);
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
      EXPECT_TRUE(this->close(reference::product(seen(trans, before), b.all[l].now()), b.all[l].before(), n));
      EXPECT_TRUE(this->close(reference::product(before, inverse.all[l].now()), this->identity(n), n));
      EXPECT_TRUE(b.all[l].untouched_outside());
      EXPECT_TRUE(inverse.all[l].untouched_outside());
      EXPECT_EQ(info.values[l], 0);
    }
  }
}

TYPED_TEST(factorizations, matinv_inverts_in_one_step_and_keeps_its_input) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t n = this->size(50), count = this->size(20);
    auto a = this->matrices(count, n, n), c = this->matrices(count, n, n);
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

TYPED_TEST(factorizations, info_counts_the_first_pivot_that_is_0_and_the_others_go_on) {
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

TYPED_TEST(factorizations, geqrf_gives_reflectors_and_a_triangle_that_multiply_to_the_matrix) {
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
      // Q R by applying the reflectors 1 - tau v v', the last first, to R.
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
      const dense before = a.all[l].before(), all = c.all[l].now(), turned = before.transposed().conjugated();
      dense x(n, nrhs);
      for (std::int64_t q = 0; q < nrhs; ++q)
        for (std::int64_t p = 0; p < n; ++p) x(p, q) = all(p, q);
      // A' A x = A' c
      const answers ax = reference::product(before, x);
      dense product(m, nrhs);
      for (std::int64_t q = 0; q < nrhs; ++q)
        for (std::int64_t p = 0; p < m; ++p) product(p, q) = ax(p, q).value;
      const answers right = reference::product(turned, c.all[l].before());
      dense want(n, nrhs);
      for (std::int64_t q = 0; q < nrhs; ++q)
        for (std::int64_t p = 0; p < n; ++p) want(p, q) = right(p, q).value;
      EXPECT_TRUE(this->close(reference::product(turned, product), want, 4 * m)) << how_to_repeat();
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
  EXPECT_GT(info.values[1], 0) << "its rank is not full";
}

}  // namespace
}  // namespace troupe::blas
