// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// gemm with all its requests and element types, compared with a reference of higher precision.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>
#include <troupe/blas/gemm.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class A, class Result = A>
struct product_types {
  using element = A;
  using result = Result;
};

template <class P>
class gemms : public blas_numerics {
 protected:
  using T = typename P::element;
  using C = typename P::result;
  using S = compute_of<T, C>;
  static constexpr bool whole = std::is_same_v<C, std::int32_t>;

  S any_factor() {
    if constexpr (whole)
      return random.one_of<std::int32_t>({0, 1, -1, 3, -7});
    else
      return factor<S>();
  }
  scalar<S> in_request(S v) { return given(v); }

  // The extents, options and factors of one product, without its matrices.
  struct shape {
    std::int64_t m, n, k;
    op trans_a, trans_b;
    std::int64_t rows_a, columns_a, rows_b, columns_b, lda, ldb, ldc;
    S alpha, beta;
  };
  shape shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    const op ta = any_op(), tb = any_op();
    const bool transposes_a = ta != op::none, transposes_b = tb != op::none;
    const std::int64_t rows_a = transposes_a ? k : m, rows_b = transposes_b ? n : k;
    return {m,
            n,
            k,
            ta,
            tb,
            rows_a,
            transposes_a ? m : k,
            rows_b,
            transposes_b ? k : n,
            leading(rows_a),
            leading(rows_b),
            leading(m),
            any_factor(),
            any_factor()};
  }
  shape any_shape(std::int64_t large) { return shape_of(size(large), size(large), size(large)); }
  struct matrices {
    stored<T> a, b;
    stored<C> c;
    answers want;
  };
  // If a factor is 0, its matrix is not read: it keeps NaN.
  matrices matrices_of(const shape& s) {
    stored<T> a(general(s.rows_a, s.columns_a, s.lda)), b(general(s.rows_b, s.columns_b, s.ldb));
    stored<C> c(general(s.m, s.n, s.ldc));
    if (!(s.alpha == S(0))) a.fill(random), b.fill(random);
    if (!(s.beta == S(0))) fill_result(c);
    answers want =
        reference::product(s.alpha, apply_op(s.trans_a, a.now()), apply_op(s.trans_b, b.now()), s.beta, c.now());
    return {std::move(a), std::move(b), std::move(c), std::move(want)};
  }
  void expect_right(matrices& m) {
    EXPECT_TRUE((all_agree<C, S>(m.c, m.want)));
    EXPECT_TRUE(m.c.untouched_outside());
    EXPECT_TRUE(m.a.untouched());
    EXPECT_TRUE(m.b.untouched());
  }

  gemm<T, C> one(const shape& s, matrices& m) {
    return {.a = m.a,
            .b = m.b,
            .c = m.c,
            .m = s.m,
            .n = s.n,
            .k = s.k,
            .trans_a = s.trans_a,
            .trans_b = s.trans_b,
            .alpha = in_request(s.alpha),
            .beta = in_request(s.beta),
            .lda = written(s.lda, s.rows_a),
            .ldb = written(s.ldb, s.rows_b),
            .ldc = written(s.ldc, s.m)};
  }
  void expect_gemm(const shape& s) {
    matrices m = matrices_of(s);
    const auto r = one(s, m);
    SCOPED_TRACE(story(r));
    run(r);
    expect_right(m);
  }

  // Fills C with values for which alpha * sum + beta * C fits in 32 bits.
  void fill_result(stored<C>& c) {
    c.fill(random);
    if constexpr (whole) {
      c.each([&](auto i, auto j) { c.at(i, j) /= 8; });
      c.remember();
    }
  }
};
using products = ::testing::Types<product_types<float>, product_types<double>, product_types<complex64>,
                                  product_types<complex128>, product_types<half>, product_types<half, float>,
                                  product_types<bfloat16>, product_types<bfloat16, float>,
                                  product_types<std::int8_t, std::int32_t>, product_types<std::int8_t, float>>;
struct product_names {
  template <class P>
  static std::string GetName(int) {
    return std::string(name_of<gemm<typename P::element, typename P::result>>());
  }
};
TYPED_TEST_SUITE(gemms, products, product_names);

TYPED_TEST(gemms, agree_with_the_reference_for_random_shapes_layouts_alpha_and_beta) {
  for (int i = 0; i < 250 && !this->HasFailure(); ++i) this->expect_gemm(this->any_shape(70));
}

TYPED_TEST(gemms, agree_with_the_reference_for_every_small_shape) {
  for (std::int64_t n = 1; n <= 34 && !this->HasFailure(); ++n) {
    this->expect_gemm(this->shape_of(n, n, n));
    this->expect_gemm(this->shape_of(n, this->random.between(1, 34), this->random.between(1, 34)));
  }
}

TYPED_TEST(gemms, agree_with_the_reference_for_shapes_of_several_threads_and_blocks) {
  auto& random = this->random;
  for (int i = 0; i < 2 && !this->HasFailure(); ++i)
    this->expect_gemm(this->shape_of(random.between(150, 230), random.between(150, 230), random.between(150, 300)));
  this->expect_gemm(this->shape_of(random.between(513, 700), random.between(1, 20), random.between(1, 40)));
  this->expect_gemm(this->shape_of(random.between(1, 20), random.between(513, 700), random.between(1, 40)));
  this->expect_gemm(this->shape_of(random.between(1, 9), random.between(1, 9), random.between(1025, 3000)));
}

TYPED_TEST(gemms, agree_with_the_reference_for_long_and_thin_shapes) {
  auto& random = this->random;
  for (int i = 0; i < 3 && !this->HasFailure(); ++i) {
    this->expect_gemm(this->shape_of(1, 1, random.between(1, 20000)));
    this->expect_gemm(this->shape_of(random.between(1, 20000), 1, random.between(1, 3)));
    this->expect_gemm(this->shape_of(2, random.between(1, 20000), random.between(1, 3)));
  }
}

TYPED_TEST(gemms, have_the_same_bits_when_coalesced_as_alone) {
  using fixture = gemms<TypeParam>;
  using C = typename fixture::C;
  std::vector<gemm<typename fixture::T, C>> requests;
  std::deque<typename fixture::matrices> together, alone;
  // Uses small products in some rounds, and products that are worth all cores in others.
  const std::int64_t least = this->random.between(0, 1) == 0 ? 1 : 40, most = least == 1 ? 20 : 60;
  for (int i = 0; i < 30; ++i) {
    const auto any = [&] { return this->random.between(least, most); };
    const auto s = this->shape_of(any(), any(), any());
    together.push_back(this->matrices_of(s));
    alone.push_back(together.back());
    requests.push_back(this->one(s, together.back()));
    this->run(this->one(s, alone.back()));
  }
  ASSERT_EQ(this->engine->run_together(requests).size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    this->expect_right(together[i]);
    const auto bytes = sizeof(C) * static_cast<std::size_t>(together[i].c.where().span);
    EXPECT_EQ(std::memcmp(together[i].c.data(), alone[i].c.data(), bytes), 0) << this->story(requests[i]);
  }
}

TYPED_TEST(gemms, agree_with_the_reference_in_batches_of_matrices_at_any_address) {
  using fixture = gemms<TypeParam>;
  using T = typename fixture::T;
  using C = typename fixture::C;
  for (int i = 0; i < 20 && !this->HasFailure(); ++i) {
    const auto s = this->any_shape(i == 0 ? 70 : 20);
    std::deque<typename fixture::matrices> all;
    gemm_batched<T, C> r{.a = {},
                         .b = {},
                         .c = {},
                         .m = s.m,
                         .n = s.n,
                         .k = s.k,
                         .trans_a = s.trans_a,
                         .trans_b = s.trans_b,
                         .alpha = this->in_request(s.alpha),
                         .beta = this->in_request(s.beta),
                         .lda = s.lda,
                         .ldb = s.ldb,
                         .ldc = s.ldc};
    for (std::int64_t j = this->size(i == 1 ? 500 : 40); j > 0; --j) {
      auto& m = all.emplace_back(this->matrices_of(s));
      r.a.push_back(m.a), r.b.push_back(m.b), r.c.push_back(m.c);
    }
    SCOPED_TRACE(this->story(r));
    this->run(r);
    for (auto& m : all) this->expect_right(m);
  }
}

TYPED_TEST(gemms, agree_with_the_reference_in_groups_of_batches) {
  using fixture = gemms<TypeParam>;
  for (int i = 0; i < 10 && !this->HasFailure(); ++i) {
    std::deque<typename fixture::matrices> all;
    gemm_grouped<typename fixture::T, typename fixture::C> r{.a = {}, .b = {}, .c = {}, .groups = {}};
    for (std::int64_t g = this->random.between(1, 6); g > 0; --g) {
      const auto s = this->any_shape(30);
      const std::int64_t count = this->random.between(1, 5);
      for (std::int64_t j = 0; j < count; ++j) {
        auto& m = all.emplace_back(this->matrices_of(s));
        r.a.push_back(m.a), r.b.push_back(m.b), r.c.push_back(m.c);
      }
      r.groups.push_back({.m = s.m,
                          .n = s.n,
                          .k = s.k,
                          .count = count,
                          .trans_a = s.trans_a,
                          .trans_b = s.trans_b,
                          .alpha = s.alpha,
                          .beta = s.beta,
                          .lda = this->written(s.lda, s.rows_a),
                          .ldb = this->written(s.ldb, s.rows_b),
                          .ldc = this->written(s.ldc, s.m)});
    }
    SCOPED_TRACE(this->story(r));
    this->run(r);
    for (auto& m : all) this->expect_right(m);
  }
}

// Returns the layout of a batch in one memory: the columns of the first matrix, then of the second, and so on.
layout strided(std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t batch, std::int64_t stride) {
  return {rows, columns * batch, (batch - 1) * stride + (columns - 1) * ld + rows,
          [=](auto i, auto j) { return j / columns * stride + i + j % columns * ld; }};
}
dense part(const dense& all, std::int64_t index, std::int64_t columns) {
  dense out(all.rows(), columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < all.rows(); ++i) out(i, j) = all(i, index * columns + j);
  return out;
}

TYPED_TEST(gemms, agree_with_the_reference_in_strided_interleaved_and_shared_batches) {
  using fixture = gemms<TypeParam>;
  using T = typename fixture::T;
  using C = typename fixture::C;
  using S = typename fixture::S;
  auto& random = this->random;
  for (int i = 0; i < 25 && !this->HasFailure(); ++i) {
    auto s = this->any_shape(i == 0 ? 70 : 20);
    const std::int64_t batch = this->size(30);
    std::int64_t stride_a = s.lda * s.columns_a + random.between(0, 3), stride_c = s.ldc * s.n + random.between(0, 3);
    std::int64_t stride_b = random.between(0, 2) == 0 ? 0 : s.ldb * s.columns_b;
    if (i % 3 == 0) stride_c = s.m + random.between(0, 2), s.ldc = stride_c * batch + random.between(0, 2);
    stored<T> a(strided(s.rows_a, s.columns_a, s.lda, batch, stride_a)),
        b(strided(s.rows_b, s.columns_b, s.ldb, batch, stride_b));
    stored<C> c(strided(s.m, s.n, s.ldc, batch, stride_c));
    if (!(s.alpha == S(0))) a.fill(random), b.fill(random);
    if (!(s.beta == S(0))) this->fill_result(c);
    answers want(s.m, s.n * batch);
    for (std::int64_t j = 0; j < batch; ++j) {
      const answers one =
          reference::product(s.alpha, apply_op(s.trans_a, part(a.now(), j, s.columns_a)),
                             apply_op(s.trans_b, part(b.now(), j, s.columns_b)), s.beta, part(c.now(), j, s.n));
      for (std::int64_t q = 0; q < s.n; ++q)
        for (std::int64_t p = 0; p < s.m; ++p) want(p, j * s.n + q) = one(p, q);
    }
    const gemm_strided_batched<T, C> r{.a = a,
                                       .b = b,
                                       .c = c,
                                       .m = s.m,
                                       .n = s.n,
                                       .k = s.k,
                                       .batch = batch,
                                       .trans_a = s.trans_a,
                                       .trans_b = s.trans_b,
                                       .alpha = this->in_request(s.alpha),
                                       .beta = this->in_request(s.beta),
                                       .lda = s.lda,
                                       .ldb = s.ldb,
                                       .ldc = s.ldc,
                                       .stride_a = this->written(stride_a, s.lda * s.columns_a),
                                       .stride_b = this->written(stride_b, s.ldb * s.columns_b),
                                       .stride_c = this->written(stride_c, s.ldc * s.n)};
    this->template expect<S>(r, c, want, a, b);
  }
}

template <class T>
class gemm_alpha_and_beta : public blas_numerics {};
TYPED_TEST_SUITE(gemm_alpha_and_beta, real_elements, element_names);

TYPED_TEST(gemm_alpha_and_beta, give_the_results_of_the_definition_if_they_are_nan_or_infinite) {
  using T = TypeParam;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const T alpha : {nan, inf, -inf, T(0), T(2)})
    for (const T beta : {nan, inf, T(0), T(1), T(-1)})
      for (const std::int64_t n : {1, 3, 8, 17, 64, 100}) {
        stored<T> a(general(n, n, n)), b(general(n, n, n)), c(general(n, n, n));
        a.fill(this->random), b.fill(this->random), c.fill(this->random);
        answers want = reference::product(alpha, a.now(), b.now(), beta, c.now());
        const gemm<T> r{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n, .alpha = alpha, .beta = beta};
        this->run(r);
        // BLAS does not say whether alpha multiplies each product or their sum, so infinite and NaN results count as
        // equal here if alpha is infinite.
        if (std::isinf(alpha))
          c.each([&](auto i, auto j) {
            if (std::isinf(c.at(i, j))) c.at(i, j) = nan;
            if (std::isinf(want(i, j).value.re)) want(i, j).value = nan;
          });
        EXPECT_TRUE(all_agree(c, want)) << this->story(r);
      }
}

using narrow_gemm = blas_numerics;

TEST_F(narrow_gemm, sums_as_many_int8_products_as_allowed_exactly) {
  constexpr std::int64_t k = 131071;
  std::vector<std::int8_t> a(k, -128), b(k, -128);
  std::vector<std::int32_t> c{5};
  const auto address = [](const auto& v) { return reinterpret_cast<std::uintptr_t>(v.data()); };
  run(gemm<std::int8_t, std::int32_t>{
      .a = {address(a), k}, .b = {address(b), k}, .c = {address(c), 1}, .m = 1, .n = 1, .k = k});
  EXPECT_EQ(c[0], 131071 * 16384);
}

TEST_F(narrow_gemm, rounds_16_bit_results_once_and_overflows_to_infinity) {
  // 2048 + 1 + 1 is 2050 if summed in float, and 2048 if each partial sum is rounded to half.
  const std::vector<half> a{half(2048), half(1), half(1)}, one{half(1), half(1), half(1)};
  std::vector<half> c(1);
  const auto address = [](const auto& v) { return reinterpret_cast<std::uintptr_t>(v.data()); };
  gemm<half> r{.a = {address(a), 3}, .b = {address(one), 3}, .c = {address(c), 1}, .m = 1, .n = 1, .k = 3};
  run(r);
  EXPECT_EQ(c[0], half(2050));
  r.alpha = 1000;
  run(r);
  EXPECT_EQ(c[0], std::numeric_limits<half>::infinity());
}

}  // namespace
}  // namespace troupe::blas
