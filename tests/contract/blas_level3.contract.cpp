// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "blas_cases.hpp"

namespace troupe::whole {
namespace {

template <class T>
struct symm : sized<symm<T>, blas::symm<T>> {
  static blas::symm<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<T>(gpu, square, 3),
            .m = size,
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::symm<T>& r, const result<typename blas::symm<T>::reply>&) {
    expect_holds(gpu, r.c, square,
                 numerics::reference::product(2, symmetric<T>(lower), known<T>(square, 2), 3, known<T>(square, 3)));
  }
};

template <class T>
struct hemm : sized<hemm<T>, blas::hemm<T>> {
  static blas::hemm<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<T>(gpu, square, 3),
            .m = size,
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::hemm<T>& r, const result<typename blas::hemm<T>::reply>&) {
    expect_holds(gpu, r.c, square,
                 numerics::reference::product(2, hermitian<T>(lower), known<T>(square, 2), 3, known<T>(square, 3)));
  }
};

template <class T>
struct syrk : sized<syrk<T>, blas::syrk<T>> {
  static blas::syrk<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square), .c = filled<T>(gpu, square, 3), .n = n, .k = size, .alpha = 2, .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::syrk<T>& r, const result<typename blas::syrk<T>::reply>&) {
    expect_holds(gpu, r.c, lower,
                 numerics::reference::product(2, known<T>(square), turned(known<T>(square)), 3, known<T>(lower, 3)));
  }
};

template <class T>
struct herk : sized<herk<T>, blas::herk<T>> {
  static blas::herk<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square), .c = filled<T>(gpu, square, 3), .n = n, .k = size, .alpha = 2, .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::herk<T>& r, const result<typename blas::herk<T>::reply>&) {
    expect_holds(gpu, r.c, lower,
                 numerics::reference::product(2, known<T>(square), adjoint(known<T>(square)), 3,
                                              known<T>(lower, 3).completed(true, true)));
  }
};

template <class T>
struct syr2k : sized<syr2k<T>, blas::syr2k<T>> {
  static blas::syr2k<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<T>(gpu, square, 3),
            .n = n,
            .k = size,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::syr2k<T>& r, const result<typename blas::syr2k<T>::reply>&) {
    const answers ab = numerics::reference::product(2, known<T>(square), turned(known<T>(square, 2))),
                  ba = numerics::reference::product(2, known<T>(square, 2), turned(known<T>(square)));
    const dense before = known<T>(lower, 3);
    expect_elements(gpu, r.c, lower,
                    [&](auto i, auto j) { return ab(i, j).value + ba(i, j).value + number(3) * before(i, j); });
  }
};

template <class T>
struct her2k : sized<her2k<T>, blas::her2k<T>> {
  static blas::her2k<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<T>(gpu, square, 3),
            .n = n,
            .k = size,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::her2k<T>& r, const result<typename blas::her2k<T>::reply>&) {
    const answers ab = numerics::reference::product(2, known<T>(square), adjoint(known<T>(square, 2))),
                  ba = numerics::reference::product(2, known<T>(square, 2), adjoint(known<T>(square)));
    const dense before = known<T>(lower, 3).completed(true, true);
    expect_elements(gpu, r.c, lower,
                    [&](auto i, auto j) { return ab(i, j).value + ba(i, j).value + number(3) * before(i, j); });
  }
};

template <class T>
struct syrkx : sized<syrkx<T>, blas::syrkx<T>> {
  static blas::syrkx<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square, 2),
            .c = filled<T>(gpu, square, 3),
            .n = n,
            .k = size,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::syrkx<T>& r, const result<typename blas::syrkx<T>::reply>&) {
    expect_holds(gpu, r.c, lower,
                 numerics::reference::product(2, known<T>(square), turned(known<T>(square, 2)), 3, known<T>(lower, 3)));
  }
};

template <class T>
struct herkx : sized<herkx<T>, blas::herkx<T>> {
  static blas::herkx<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .b = filled<T>(gpu, square),
            .c = filled<T>(gpu, square, 3),
            .n = n,
            .k = size,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const blas::herkx<T>& r, const result<typename blas::herkx<T>::reply>&) {
    expect_holds(gpu, r.c, lower,
                 numerics::reference::product(2, known<T>(square), adjoint(known<T>(square)), 3,
                                              known<T>(lower, 3).completed(true, true)));
  }
};

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
  static void expect_right(const device& gpu, const blas::trmm<T>& r, const result<typename blas::trmm<T>::reply>&) {
    expect_holds(gpu, r.c, square, numerics::reference::product(2, known<T>(lower), known<T>(square, 2)));
  }
};

template <class T>
struct trsm : sized<trsm<T>, blas::trsm<T>> {
  static blas::trsm<T> make(const device& gpu, extent n) {
    return {
        .a = filled<T>(gpu, square), .b = filled<T>(gpu, square, 2), .m = size, .n = n, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::trsm<T>& r, const result<typename blas::trsm<T>::reply>&) {
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
  static void expect_right(const device& gpu, const blas::geam<T>& r, const result<typename blas::geam<T>::reply>&) {
    expect_holds(gpu, r.c, square, numerics::reference::sum(2, known<T>(square), 3, turned(known<T>(square, 2))));
  }
};

template <class T>
struct dgmm : sized<dgmm<T>, blas::dgmm<T>> {
  static blas::dgmm<T> make(const device& gpu, extent n) {
    return {
        .a = filled<T>(gpu, square), .x = filled<T>(gpu, column, 2), .c = gpu.alloc<T>(size * size), .m = size, .n = n};
  }
  static void expect_right(const device& gpu, const blas::dgmm<T>& r, const result<typename blas::dgmm<T>::reply>&) {
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
