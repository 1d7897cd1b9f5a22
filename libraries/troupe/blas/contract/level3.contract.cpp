// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

// C = 2 * A * B + 3 * C, where memory holds the lower triangle of A.
template <class R, class T, dense (*whole)(const layout&)>
struct product_with_half : sized<product_with_half<R, T, whole>, R> {
  static R make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<T>(gpu, square, 3),
            .m = size,
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.c, square,
                 numerics::reference::product(2, whole(lower), known<T>(square, 2), 3, known<T>(square, 3)));
  }
};
template <class T>
using symm = product_with_half<blas::symm<T>, T, symmetric<T>>;
template <class T>
using hemm = product_with_half<blas::hemm<T>, T, hermitian<T>>;

template <class T>
dense symmetric_before() {
  return known<T>(lower, 3);
}
template <class T>
dense hermitian_before() {
  return known<T>(lower, 3).completed(true, true);
}

// C = 2 * A * A' + 3 * C, where A' is A transposed or its adjoint, and memory holds the lower triangle of C.
template <class R, class T, dense (*other)(const dense&), dense (*before)()>
struct rank_k : sized<rank_k<R, T, other, before>, R> {
  static R make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square), .c = filled<T>(gpu, square, 3), .n = n, .k = size, .alpha = 2, .beta = 3};
  }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.c, lower,
                 numerics::reference::product(2, known<T>(square), other(known<T>(square)), 3, before()));
  }
};
template <class T>
using syrk = rank_k<blas::syrk<T>, T, transposed, symmetric_before<T>>;
template <class T>
using herk = rank_k<blas::herk<T>, T, adjoint, hermitian_before<T>>;

// Returns a request with A, and with a B whose elements begin with `first`.
template <class R, class T>
R make_rank_2k(const device& gpu, extent n, int first) {
  return {.a = filled<T>(gpu, square),
          .b = filled<T>(gpu, square, first),
          .c = filled<T>(gpu, square, 3),
          .n = n,
          .k = size,
          .alpha = 2,
          .beta = 3};
}

// C = 2 * A * B' + 2 * B * A' + 3 * C.
template <class R, class T, dense (*other)(const dense&), dense (*before)()>
struct rank_2k : sized<rank_2k<R, T, other, before>, R> {
  static R make(const device& gpu, extent n) { return make_rank_2k<R, T>(gpu, n, 2); }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    const answers ab = numerics::reference::product(2, known<T>(square), other(known<T>(square, 2))),
                  ba = numerics::reference::product(2, known<T>(square, 2), other(known<T>(square)));
    const dense c = before();
    expect_elements(gpu, r.c, lower,
                    [&](auto i, auto j) { return ab(i, j).value + ba(i, j).value + number(3) * c(i, j); });
  }
};
template <class T>
using syr2k = rank_2k<blas::syr2k<T>, T, transposed, symmetric_before<T>>;
template <class T>
using her2k = rank_2k<blas::her2k<T>, T, adjoint, hermitian_before<T>>;

// C = 2 * A * B' + 3 * C, where the result is symmetric; for herkx, which needs a Hermitian result, B equals A.
template <class R, class T, int first, dense (*other)(const dense&), dense (*before)()>
struct rank_kx : sized<rank_kx<R, T, first, other, before>, R> {
  static R make(const device& gpu, extent n) { return make_rank_2k<R, T>(gpu, n, first); }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.c, lower,
                 numerics::reference::product(2, known<T>(square), other(known<T>(square, first)), 3, before()));
  }
};
template <class T>
using syrkx = rank_kx<blas::syrkx<T>, T, 2, transposed, symmetric_before<T>>;
template <class T>
using herkx = rank_kx<blas::herkx<T>, T, 1, adjoint, hermitian_before<T>>;

template <class T>
struct trmm : sized<trmm<T>, blas::trmm<T>> {
  static blas::trmm<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = gpu.alloc<T>(size * size),
            .m = size,
            .n = n,
            .alpha = 2};
  }
  static void expect_right(const device& gpu, const blas::trmm<T>& r, const result<reply_to<blas::trmm<T>>>&) {
    expect_holds(gpu, r.c, square, numerics::reference::product(2, known<T>(lower), known<T>(square, 2)));
  }
};

template <class T>
struct trsm : sized<trsm<T>, blas::trsm<T>> {
  static blas::trsm<T> make(const device& gpu, extent n) {
    return {
        .a = filled<T>(gpu, square), .b = filled<T>(gpu, square, 2), .m = size, .n = n, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::trsm<T>& r, const result<reply_to<blas::trsm<T>>>&) {
    dense x(size, size);
    const auto got = content(gpu, r.b);
    for (std::int64_t i = 0; i < size * size; ++i) x(i % size, i / size) = got[static_cast<std::size_t>(i)];
    const answers back = numerics::reference::product(unit_triangle<T>(unit_lower), x);
    const dense right = known<T>(square, 2);
    for (std::int64_t i = 0; i < size * size; ++i)
      EXPECT_EQ(back(i % size, i / size).value, right(i % size, i / size)) << i;
  }
};

template <class T>
struct geam : sized<geam<T>, blas::geam<T>> {
  static blas::geam<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = gpu.alloc<T>(size * size),
            .m = size,
            .n = n,
            .trans_b = blas::op::transpose,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::geam<T>& r, const result<reply_to<blas::geam<T>>>&) {
    expect_holds(gpu, r.c, square, numerics::reference::sum(2, known<T>(square), 3, transposed(known<T>(square, 2))));
  }
};

template <class T>
struct dgmm : sized<dgmm<T>, blas::dgmm<T>> {
  static blas::dgmm<T> make(const device& gpu, extent n) {
    return {
        .a = filled<T>(gpu, square), .x = filled<T>(gpu, column, 2), .c = gpu.alloc<T>(size * size), .m = size, .n = n};
  }
  static void expect_right(const device& gpu, const blas::dgmm<T>& r, const result<reply_to<blas::dgmm<T>>>&) {
    expect_elements(gpu, r.c, square, [](auto i, auto j) { return known<T>(square)(i, j) * known<T>(column, 2)(i); });
  }
};

}  // namespace

using blas_level3_requests = testing::Types<symm<float>, symm<complex64>, hemm<complex64>, syrk<float>, syrk<complex64>,
                                            herk<complex64>, syr2k<float>, her2k<complex64>, syrkx<float>,
                                            herkx<complex64>, trmm<float>, trsm<float>, geam<float>, dgmm<float>>;
static_assert(covers<blas_level3_requests, joined_requests<blas::all_level3, blas::all_extensions>>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_level3, library_actor, blas_level3_requests);

}  // namespace troupe::whole
