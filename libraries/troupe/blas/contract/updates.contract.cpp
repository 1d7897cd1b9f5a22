// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

// A = A + 2 * x * y', where y' is y transposed or its adjoint.
template <class R, class T, dense (*other)(const dense&)>
struct outer : sized<outer<R, T, other>, R> {
  static R make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column),
            .y = filled<T>(gpu, column, 2),
            .a = filled<T>(gpu, square),
            .m = size,
            .n = n,
            .alpha = 2};
  }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.a, square,
                 numerics::reference::product(2, known<T>(column), other(known<T>(column, 2)), 1, known<T>(square)));
  }
};
template <class T>
using ger = outer<blas::ger<T>, T, transposed>;
template <class T>
using geru = outer<blas::geru<T>, T, transposed>;
template <class T>
using gerc = outer<blas::gerc<T>, T, adjoint>;

// A = A + 2 * x * x', where memory holds the part `part` of A, and x' is x transposed or its adjoint.
template <class R, class T, const layout& part, dense (*other)(const dense&), dense (*whole)(const layout&)>
struct rank_1 : sized<rank_1<R, T, part, other, whole>, R> {
  static R make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .a = filled<T>(gpu, part), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.a, part,
                 numerics::reference::product(2, known<T>(column), other(known<T>(column)), 1, whole(part)));
  }
};
template <class T>
using syr = rank_1<blas::syr<T>, T, lower, transposed, symmetric<T>>;
template <class T>
using her = rank_1<blas::her<T>, T, lower, adjoint, hermitian<T>>;
template <class T>
using spr = rank_1<blas::spr<T>, T, packed, transposed, symmetric<T>>;
template <class T>
using hpr = rank_1<blas::hpr<T>, T, packed, adjoint, hermitian<T>>;

// A = A + 2 * x * y' + 2 * y * x'.
template <class R, class T, const layout& part, dense (*other)(const dense&), dense (*whole)(const layout&)>
struct rank_2 : sized<rank_2<R, T, part, other, whole>, R> {
  static R make(const device& gpu, extent n) {
    return {.x = filled<T>(gpu, column), .y = filled<T>(gpu, column, 2), .a = filled<T>(gpu, part), .n = n, .alpha = 2};
  }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    const answers xy = numerics::reference::product(2, known<T>(column), other(known<T>(column, 2))),
                  yx = numerics::reference::product(2, known<T>(column, 2), other(known<T>(column)));
    const dense before = whole(part);
    expect_elements(gpu, r.a, part, [&](auto i, auto j) { return xy(i, j).value + yx(i, j).value + before(i, j); });
  }
};
template <class T>
using syr2 = rank_2<blas::syr2<T>, T, lower, transposed, symmetric<T>>;
template <class T>
using her2 = rank_2<blas::her2<T>, T, lower, adjoint, hermitian<T>>;
template <class T>
using spr2 = rank_2<blas::spr2<T>, T, packed, transposed, symmetric<T>>;
template <class T>
using hpr2 = rank_2<blas::hpr2<T>, T, packed, adjoint, hermitian<T>>;

}  // namespace

using blas_updates_requests =
    testing::Types<ger<float>, geru<complex64>, gerc<complex64>, syr<float>, syr<complex64>, her<complex64>, spr<float>,
                   hpr<complex64>, syr2<float>, syr2<complex64>, her2<complex64>, spr2<float>, hpr2<complex64>>;
static_assert(covers<blas_updates_requests, blas::all_updates>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_updates, library_actor, blas_updates_requests);

}  // namespace troupe::whole
