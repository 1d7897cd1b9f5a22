// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "blas_cases.hpp"

namespace troupe::whole {
namespace {

template <class T>
struct ger : sized<ger<T>, blas::ger<T>> {
  static blas::ger<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .a = filled<T>(gpu, square),
            .m = size,
            .n = n,
            .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::ger<T>& r, const result<typename blas::ger<T>::reply>&) {
    expect_holds(gpu, r.a, square,
                 numerics::reference::product(2, known<T>(column), turned(known<T>(column, 2)), 1, known<T>(square)));
  }
};

template <class T>
struct geru : sized<geru<T>, blas::geru<T>> {
  static blas::geru<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .a = filled<T>(gpu, square),
            .m = size,
            .n = n,
            .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::geru<T>& r, const result<typename blas::geru<T>::reply>&) {
    expect_holds(gpu, r.a, square,
                 numerics::reference::product(2, known<T>(column), turned(known<T>(column, 2)), 1, known<T>(square)));
  }
};

template <class T>
struct gerc : sized<gerc<T>, blas::gerc<T>> {
  static blas::gerc<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .a = filled<T>(gpu, square),
            .m = size,
            .n = n,
            .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::gerc<T>& r, const result<typename blas::gerc<T>::reply>&) {
    expect_holds(gpu, r.a, square,
                 numerics::reference::product(2, known<T>(column), adjoint(known<T>(column, 2)), 1, known<T>(square)));
  }
};

template <class T>
struct syr : sized<syr<T>, blas::syr<T>> {
  static blas::syr<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .a = filled<T>(gpu, square), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::syr<T>& r, const result<typename blas::syr<T>::reply>&) {
    expect_holds(gpu, r.a, lower,
                 numerics::reference::product(2, known<T>(column), turned(known<T>(column)), 1, known<T>(lower)));
  }
};

template <class T>
struct her : sized<her<T>, blas::her<T>> {
  static blas::her<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .a = filled<T>(gpu, square), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::her<T>& r, const result<typename blas::her<T>::reply>&) {
    expect_holds(gpu, r.a, lower,
                 numerics::reference::product(2, known<T>(column), adjoint(known<T>(column)), 1, hermitian<T>(lower)));
  }
};

template <class T>
struct spr : sized<spr<T>, blas::spr<T>> {
  static blas::spr<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .a = filled<T>(gpu, packed), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::spr<T>& r, const result<typename blas::spr<T>::reply>&) {
    expect_holds(gpu, r.a, packed,
                 numerics::reference::product(2, known<T>(column), turned(known<T>(column)), 1, known<T>(packed)));
  }
};

template <class T>
struct hpr : sized<hpr<T>, blas::hpr<T>> {
  static blas::hpr<T> make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .a = filled<T>(gpu, packed), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::hpr<T>& r, const result<typename blas::hpr<T>::reply>&) {
    expect_holds(gpu, r.a, packed,
                 numerics::reference::product(2, known<T>(column), adjoint(known<T>(column)), 1, hermitian<T>(packed)));
  }
};

template <class T>
struct syr2 : sized<syr2<T>, blas::syr2<T>> {
  static blas::syr2<T> make(const device& gpu, extent n) {
    return {
        .x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .a = filled<T>(gpu, square), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::syr2<T>& r, const result<typename blas::syr2<T>::reply>&) {
    const answers xy = numerics::reference::product(2, known<T>(column), turned(known<T>(column, 2))),
                  yx = numerics::reference::product(2, known<T>(column, 2), turned(known<T>(column)));
    const dense before = known<T>(lower);
    expect_elements(gpu, r.a, lower, [&](auto i, auto j) { return xy(i, j).value + yx(i, j).value + before(i, j); });
  }
};

template <class T>
struct her2 : sized<her2<T>, blas::her2<T>> {
  static blas::her2<T> make(const device& gpu, extent n) {
    return {
        .x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .a = filled<T>(gpu, square), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::her2<T>& r, const result<typename blas::her2<T>::reply>&) {
    const answers xy = numerics::reference::product(2, known<T>(column), adjoint(known<T>(column, 2))),
                  yx = numerics::reference::product(2, known<T>(column, 2), adjoint(known<T>(column)));
    const dense before = hermitian<T>(lower);
    expect_elements(gpu, r.a, lower, [&](auto i, auto j) { return xy(i, j).value + yx(i, j).value + before(i, j); });
  }
};

template <class T>
struct spr2 : sized<spr2<T>, blas::spr2<T>> {
  static blas::spr2<T> make(const device& gpu, extent n) {
    return {
        .x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .a = filled<T>(gpu, packed), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::spr2<T>& r, const result<typename blas::spr2<T>::reply>&) {
    const answers xy = numerics::reference::product(2, known<T>(column), turned(known<T>(column, 2))),
                  yx = numerics::reference::product(2, known<T>(column, 2), turned(known<T>(column)));
    const dense before = known<T>(packed);
    expect_elements(gpu, r.a, packed, [&](auto i, auto j) { return xy(i, j).value + yx(i, j).value + before(i, j); });
  }
};

template <class T>
struct hpr2 : sized<hpr2<T>, blas::hpr2<T>> {
  static blas::hpr2<T> make(const device& gpu, extent n) {
    return {
        .x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .a = filled<T>(gpu, packed), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::hpr2<T>& r, const result<typename blas::hpr2<T>::reply>&) {
    const answers xy = numerics::reference::product(2, known<T>(column), adjoint(known<T>(column, 2))),
                  yx = numerics::reference::product(2, known<T>(column, 2), adjoint(known<T>(column)));
    const dense before = hermitian<T>(packed);
    expect_elements(gpu, r.a, packed, [&](auto i, auto j) { return xy(i, j).value + yx(i, j).value + before(i, j); });
  }
};

}  // namespace

using blas_updates_requests =
    testing::Types<ger<float>, geru<complex64>, gerc<complex64>, syr<float>, syr<complex64>, her<complex64>, spr<float>,
                   hpr<complex64>, syr2<float>, syr2<complex64>, her2<complex64>, spr2<float>, hpr2<complex64>>;
INSTANTIATE_TYPED_TEST_SUITE_P(blas_updates, library_actor, blas_updates_requests);

}  // namespace troupe::whole
