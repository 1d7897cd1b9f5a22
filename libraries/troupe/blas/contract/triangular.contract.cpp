// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

// Returns a request for a triangular matrix that memory holds as `part`: full, as a band or packed.
template <class R, class T, const layout& part>
R vector_request(const device& gpu, extent n) {
  const auto a = filled<T>(gpu, part), x = filled<T>(gpu, column);
  if constexpr (requires(const R& r) { r.k; })
    return {.a = a, .x = x, .n = n, .k = 2, .diag = blas::diagonal::unit};
  else
    return {.a = a, .x = x, .n = n, .diag = blas::diagonal::unit};
}

template <class R, class T, const layout& part>
struct vector_product : sized<vector_product<R, T, part>, R> {
  static R make(const device& gpu, extent n) { return vector_request<R, T, part>(gpu, n); }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    expect_holds(gpu, r.x, column, numerics::reference::product(unit_triangle<T>(part), known<T>(column)));
  }
};
template <class T>
using trmv = vector_product<blas::trmv<T>, T, unit_lower>;
template <class T>
using tbmv = vector_product<blas::tbmv<T>, T, unit_band>;
template <class T>
using tpmv = vector_product<blas::tpmv<T>, T, unit_packed>;

template <class R, class T, const layout& part>
struct vector_solution : sized<vector_solution<R, T, part>, R> {
  static R make(const device& gpu, extent n) { return vector_request<R, T, part>(gpu, n); }
  static void expect_right(const device& gpu, const R& r, const result<reply_to<R>>&) {
    dense x(size, 1);
    const auto got = content(gpu, r.x);
    for (std::int64_t i = 0; i < size; ++i) x(i) = got[static_cast<std::size_t>(i)];
    const answers back = numerics::reference::product(unit_triangle<T>(part), x);
    for (std::int64_t i = 0; i < size; ++i) EXPECT_EQ(back(i).value, known<T>(column)(i)) << i;
  }
};
template <class T>
using trsv = vector_solution<blas::trsv<T>, T, unit_lower>;
template <class T>
using tbsv = vector_solution<blas::tbsv<T>, T, unit_band>;
template <class T>
using tpsv = vector_solution<blas::tpsv<T>, T, unit_packed>;

}  // namespace

using blas_triangular_requests =
    testing::Types<trmv<float>, trsv<float>, tbmv<float>, tbsv<float>, tpmv<float>, tpsv<float>>;
static_assert(covers<blas_triangular_requests, blas::all_triangular_vectors>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_triangular, library_actor, blas_triangular_requests);

}  // namespace troupe::whole
