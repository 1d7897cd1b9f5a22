// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "blas_cases.hpp"

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
  static void expect_right(const device& gpu, const blas::gemv<T>& r, const result<typename blas::gemv<T>::reply>&) {
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
  static void expect_right(const device& gpu, const blas::gbmv<T>& r, const result<typename blas::gbmv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, known<T>(band), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct symv : sized<symv<T>, blas::symv<T>> {
  static blas::symv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::symv<T>& r, const result<typename blas::symv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, symmetric<T>(lower), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct hemv : sized<hemv<T>, blas::hemv<T>> {
  static blas::hemv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::hemv<T>& r, const result<typename blas::hemv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, hermitian<T>(lower), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct sbmv : sized<sbmv<T>, blas::sbmv<T>> {
  static blas::sbmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, lower_band),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .k = 2,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::sbmv<T>& r, const result<typename blas::sbmv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, symmetric<T>(lower_band), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct hbmv : sized<hbmv<T>, blas::hbmv<T>> {
  static blas::hbmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, lower_band),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .k = 2,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::hbmv<T>& r, const result<typename blas::hbmv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, hermitian<T>(lower_band), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct spmv : sized<spmv<T>, blas::spmv<T>> {
  static blas::spmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, packed),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::spmv<T>& r, const result<typename blas::spmv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, symmetric<T>(packed), known<T>(column), 3, known<T>(column, 2)));
  }
};

template <class T>
struct hpmv : sized<hpmv<T>, blas::hpmv<T>> {
  static blas::hpmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, packed),
            .x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::hpmv<T>& r, const result<typename blas::hpmv<T>::reply>&) {
    expect_holds(gpu, r.y, column,
                 numerics::reference::product(2, hermitian<T>(packed), known<T>(column), 3, known<T>(column, 2)));
  }
};

}  // namespace

using blas_level2_requests = testing::Types<gemv<float>, gbmv<float>, symv<float>, symv<complex64>, hemv<complex64>,
                                            sbmv<float>, hbmv<complex64>, spmv<float>, hpmv<complex64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(blas_level2, library_actor, blas_level2_requests);

}  // namespace troupe::whole
