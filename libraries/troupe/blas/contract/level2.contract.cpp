// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

template <class T>
struct gemv : sized<gemv<T>, blas::gemv<T>> {
  static blas::gemv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .m = size,
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::gemv<T>& r, const result<reply_to<blas::gemv<T>>>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, known<T>(square), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct gbmv : sized<gbmv<T>, blas::gbmv<T>> {
  static blas::gbmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, band),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .m = size,
            .n = n,
            .kl = 1,
            .ku = 2,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::gbmv<T>& r, const result<reply_to<blas::gbmv<T>>>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, known<T>(band), known<T>(column), 3, known<T>(column, 2)));
  }
};

// y = 2 * A * x + 3 * y, where memory holds the part `part` of A, such as a triangle or a band.
template <class R, class T, const layout& part, dense (*whole)(const layout&)>
struct completed : sized<completed<R, T, part, whole>, R> {
  static R make(const device& gpu, extent n) {
    const auto a = filled<T>(gpu, part), x = filled<T>(gpu, column), y = filled<T>(gpu, column, 2);
    if constexpr (requires(const R& r) { r.k; })
      return {.a = a, .x = x, .y = y, .n = n, .k = 2, .alpha = 2, .beta = 3};
    else
      return {.a = a, .x = x, .y = y, .n = n, .alpha = 2, .beta = 3};
  }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, whole(part), known<T>(column), 3, known<T>(column, 2)));
  }
};
template <class T>
using symv = completed<blas::symv<T>, T, lower, symmetric<T>>;
template <class T>
using hemv = completed<blas::hemv<T>, T, lower, hermitian<T>>;
template <class T>
using sbmv = completed<blas::sbmv<T>, T, lower_band, symmetric<T>>;
template <class T>
using hbmv = completed<blas::hbmv<T>, T, lower_band, hermitian<T>>;
template <class T>
using spmv = completed<blas::spmv<T>, T, packed, symmetric<T>>;
template <class T>
using hpmv = completed<blas::hpmv<T>, T, packed, hermitian<T>>;

}  // namespace

using blas_level2_requests = testing::Types<gemv<float>, gbmv<float>, symv<float>, symv<complex64>, hemv<complex64>,
                                            sbmv<float>, hbmv<complex64>, spmv<float>, hpmv<complex64>>;
static_assert(covers<blas_level2_requests, blas::all_level2>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_level2, library_actor, blas_level2_requests);

}  // namespace troupe::whole
