// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of matrices, in all their element types and requests.
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>

#include "cases.hpp"

namespace troupe::whole {
namespace {

using blas::compute_of;

// A contains the numbers from 1 on, B from 2 on and C from 3 on, in cycles of 5 (see content_at); alpha is 2, beta is
// 3.
template <class T, class C>
answers product(int shift = 0) {
  return numerics::reference::product(2, known<T>(square, 1 + shift), known<T>(square, 2 + shift), 3,
                                      known<C>(square, 3 + shift));
}
// Results of 16 bits are rounded.
template <class C, class Operand>
void expect_product(const device& gpu, const Operand& c, const answers& want, const layout& where = square) {
  if constexpr (sizeof(C) == 2) {
    const auto got = content(gpu, c);
    for (std::int64_t i = 0; i < size * size; ++i)
      EXPECT_EQ(got[static_cast<std::size_t>(i)], C(static_cast<float>(want(i % size, i / size).value.re))) << i;
  } else {
    expect_holds(gpu, c, where, want);
  }
}

template <class T, class C = T>
struct gemm : sized<gemm<T, C>, blas::gemm<T, C>> {
  static blas::gemm<T, C> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<C>(gpu, square, 3),
            .m = size,
            .n = n,
            .k = size,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::gemm<T, C>& r, const result<void>&) {
    expect_product<C>(gpu, r.c, product<T, C>());
  }
};

// Takes the factors from device memory.
template <class T>
struct gemm_with_factors_in_memory : sized<gemm_with_factors_in_memory<T>, blas::gemm<T>> {
  static blas::gemm<T> make(const device& gpu, extent n) {
    auto r = gemm<T>::make(gpu, n);
    r.alpha = filled<T>(gpu, single, 2);
    r.beta = filled<T>(gpu, single, 3);
    return r;
  }
  static void expect_right(const device& gpu, const blas::gemm<T>& r, const result<void>&) {
    expect_product<T>(gpu, r.c, product<T, T>());
  }
};

template <class T, class C = T>
struct gemm_strided_batched : sized<gemm_strided_batched<T, C>, blas::gemm_strided_batched<T, C>> {
  using request = blas::gemm_strided_batched<T, C>;
  static request make(const device& gpu, extent n) {
    // All products of the batch multiply the same matrices; each is added to a C of its own.
    request r{.a = filled<T>(gpu, square),
              .b = filled<T>(gpu, square, 2),
              .c = filled<C>(gpu, numerics::general(size, 5 * size, size), 3),
              .m = size,
              .n = n,
              .k = size,
              .batch = 5,
              .alpha = 2,
              .beta = 3,
              .stride_a = 0,
              .stride_b = 0};
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const layout all = numerics::general(size, 5 * size, size);
    const dense before = known<C>(all, 3);
    const answers one = numerics::reference::product(known<T>(square), known<T>(square, 2));
    expect_elements(gpu, r.c, all,
                    [&](auto i, auto j) { return number(2) * one(i, j % size).value + number(3) * before(i, j); });
  }
};

template <class T, class C = T>
struct gemm_batched : sized<gemm_batched<T, C>, blas::gemm_batched<T, C>> {
  using request = blas::gemm_batched<T, C>;
  static request make(const device& gpu, extent n) {
    return {.a = several<access_mode::read, T>(gpu, square, 1, 30),
            .b = several<access_mode::read, T>(gpu, square, 2, 30),
            .c = several<access_mode::read_write, C>(gpu, square, 3, 30),
            .m = size,
            .n = n,
            .k = size,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    for (int i = 0; i < 30; i += 7) expect_product<C>(gpu, r.c[static_cast<std::size_t>(i)], product<T, C>(i));
  }
};

template <class T, class C = T>
struct gemm_grouped {
  using request = blas::gemm_grouped<T, C>;
  static request make(const device& gpu, extent n) {
    return {.a = several<access_mode::read, T>(gpu, square),
            .b = several<access_mode::read, T>(gpu, square, 2),
            .c = several<access_mode::read_write, C>(gpu, square, 3),
            .groups = {{.m = size, .n = n, .k = size, .count = 2, .alpha = 2, .beta = 3},
                       {.m = size, .n = size, .k = size, .alpha = 1}}};
  }
  static request good(const device& gpu) { return make(gpu, size); }
  static request bad(const device& gpu) { return make(gpu, 0); }
  static constexpr const char* bad_field = "groups has a group [0] whose n is 0";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_product<C>(gpu, r.c[0], product<T, C>(0));
    expect_product<C>(gpu, r.c[1], product<T, C>(1));
    expect_product<C>(gpu, r.c[2], numerics::reference::product(known<T>(square, 3), known<T>(square, 4)));
  }
};

}  // namespace

using i8 = std::int8_t;
using i32 = std::int32_t;
using gemm_requests =
    testing::Types<gemm<float>, gemm<double>, gemm<complex64>, gemm<complex128>, gemm<half>, gemm<half, float>,
                   gemm<bfloat16>, gemm<bfloat16, float>, gemm<i8, i32>, gemm<i8, float>,
                   gemm_with_factors_in_memory<float>, gemm_strided_batched<float>, gemm_strided_batched<i8, i32>,
                   gemm_batched<float>, gemm_batched<half>, gemm_grouped<double>, gemm_grouped<bfloat16, float>>;
static_assert(covers<gemm_requests, blas::all_products>);
INSTANTIATE_TYPED_TEST_SUITE_P(gemm, library_actor, gemm_requests);

}  // namespace troupe::whole
