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

// A = A + 2 * x * x', where A is known by a part of it, and x' is x turned or its adjoint.
template <class R, class T, const layout& part, dense (*other)(const dense&), dense (*whole)(const layout&)>
struct with_itself : sized<with_itself<R, T, part, other, whole>, R> {
  static R make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .a = filled<T>(gpu, part), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const R& r, const result<typename R::reply>&) {
    expect_holds(gpu, r.a, part,
                 numerics::reference::product(2, known<T>(column), other(known<T>(column)), 1, whole(part)));
  }
};
template <class T>
using syr = with_itself<blas::syr<T>, T, lower, turned, symmetric<T>>;
template <class T>
using her = with_itself<blas::her<T>, T, lower, adjoint, hermitian<T>>;
template <class T>
using spr = with_itself<blas::spr<T>, T, packed, turned, symmetric<T>>;
template <class T>
using hpr = with_itself<blas::hpr<T>, T, packed, adjoint, hermitian<T>>;

// A = A + 2 * x * y' + 2 * y * x'.
template <class R, class T, const layout& part, dense (*other)(const dense&), dense (*whole)(const layout&)>
struct with_another : sized<with_another<R, T, part, other, whole>, R> {
  static R make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .a = filled<T>(gpu, part), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const R& r, const result<typename R::reply>&) {
    const answers xy = numerics::reference::product(2, known<T>(column), other(known<T>(column, 2))),
                  yx = numerics::reference::product(2, known<T>(column, 2), other(known<T>(column)));
    const dense before = whole(part);
    expect_elements(gpu, r.a, part, [&](auto i, auto j) { return xy(i, j).value + yx(i, j).value + before(i, j); });
  }
};
template <class T>
using syr2 = with_another<blas::syr2<T>, T, lower, turned, symmetric<T>>;
template <class T>
using her2 = with_another<blas::her2<T>, T, lower, adjoint, hermitian<T>>;
template <class T>
using spr2 = with_another<blas::spr2<T>, T, packed, turned, symmetric<T>>;
template <class T>
using hpr2 = with_another<blas::hpr2<T>, T, packed, adjoint, hermitian<T>>;

}  // namespace

using blas_updates_requests =
    testing::Types<ger<float>, geru<complex64>, gerc<complex64>, syr<float>, syr<complex64>, her<complex64>, spr<float>,
                   hpr<complex64>, syr2<float>, syr2<complex64>, her2<complex64>, spr2<float>, hpr2<complex64>>;
static_assert(covers<blas_updates_requests, blas::all_updates>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_updates, library_actor, blas_updates_requests);

}  // namespace troupe::whole
