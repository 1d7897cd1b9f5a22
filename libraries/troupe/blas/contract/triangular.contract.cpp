// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

template <class T>
struct trmv : sized<trmv<T>, blas::trmv<T>> {
  static blas::trmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, unit_lower), .x = filled<T>(gpu, column), .n = n, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::trmv<T>& r, const result<reply_to<blas::trmv<T>>>&) {
    expect_holds(gpu, r.x, column, numerics::reference::product(unit_triangle<T>(unit_lower), known<T>(column)));
  }
};

template <class T>
struct trsv : sized<trsv<T>, blas::trsv<T>> {
  static blas::trsv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, unit_lower), .x = filled<T>(gpu, column), .n = n, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::trsv<T>& r, const result<reply_to<blas::trsv<T>>>&) {
    dense x(size, 1);
    const auto got = content(gpu, r.x);
    for (std::int64_t i = 0; i < size; ++i) x(i) = got[static_cast<std::size_t>(i)];
    const answers back = numerics::reference::product(unit_triangle<T>(unit_lower), x);
    for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(back(i).value, known<T>(column)(i)) << i;
  }
};

template <class T>
struct tbmv : sized<tbmv<T>, blas::tbmv<T>> {
  static blas::tbmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, unit_band), .x = filled<T>(gpu, column), .n = n, .k = 2, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::tbmv<T>& r, const result<reply_to<blas::tbmv<T>>>&) {
    expect_holds(gpu, r.x, column, numerics::reference::product(unit_triangle<T>(unit_band), known<T>(column)));
  }
};

template <class T>
struct tbsv : sized<tbsv<T>, blas::tbsv<T>> {
  static blas::tbsv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, unit_band), .x = filled<T>(gpu, column), .n = n, .k = 2, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::tbsv<T>& r, const result<reply_to<blas::tbsv<T>>>&) {
    dense x(size, 1);
    const auto got = content(gpu, r.x);
    for (std::int64_t i = 0; i < size; ++i) x(i) = got[static_cast<std::size_t>(i)];
    const answers back = numerics::reference::product(unit_triangle<T>(unit_band), x);
    for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(back(i).value, known<T>(column)(i)) << i;
  }
};

template <class T>
struct tpmv : sized<tpmv<T>, blas::tpmv<T>> {
  static blas::tpmv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, unit_packed), .x = filled<T>(gpu, column), .n = n, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::tpmv<T>& r, const result<reply_to<blas::tpmv<T>>>&) {
    expect_holds(gpu, r.x, column, numerics::reference::product(unit_triangle<T>(unit_packed), known<T>(column)));
  }
};

template <class T>
struct tpsv : sized<tpsv<T>, blas::tpsv<T>> {
  static blas::tpsv<T> make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, unit_packed), .x = filled<T>(gpu, column), .n = n, .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const blas::tpsv<T>& r, const result<reply_to<blas::tpsv<T>>>&) {
    dense x(size, 1);
    const auto got = content(gpu, r.x);
    for (std::int64_t i = 0; i < size; ++i) x(i) = got[static_cast<std::size_t>(i)];
    const answers back = numerics::reference::product(unit_triangle<T>(unit_packed), x);
    for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(back(i).value, known<T>(column)(i)) << i;
  }
};

}  // namespace

using blas_triangular_requests =
    testing::Types<trmv<float>, trsv<float>, tbmv<float>, tbsv<float>, tpmv<float>, tpsv<float>>;
static_assert(covers<blas_triangular_requests, blas::all_triangular_vectors>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_triangular, library_actor, blas_triangular_requests);

}  // namespace troupe::whole
