// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "cases.hpp"

namespace troupe::whole {
namespace {

template <class T>
struct gemv_batched : sized<gemv_batched<T>, blas::gemv_batched<T>> {
  using request = blas::gemv_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = several<access_mode::read, T>(gpu, square),
            .x = several<access_mode::read, T>(gpu, column),
            .y = several<access_mode::read_write, T>(gpu, column, 2),
            .m = size,
            .n = n,
            .alpha = 2,
            .beta = 3};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    for (int i = 0; i < 3; ++i)
      expect_holds(gpu, r.y[static_cast<std::size_t>(i)], column,
                   numerics::reference::product(2, known<T>(square, 1 + i), known<T>(column, 1 + i), 3,
                                                known<T>(column, 2 + i)));
  }
};

template <class T>
struct gemv_strided_batched : sized<gemv_strided_batched<T>, blas::gemv_strided_batched<T>> {
  using request = blas::gemv_strided_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = filled<T>(gpu, square),
            .x = filled<T>(gpu, square),
            .y = gpu.alloc<T>(size * size),
            .m = size,
            .n = n,
            .batch = size,
            .stride_a = 0};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_holds(gpu, r.y, square, numerics::reference::product(known<T>(square), known<T>(square)));
  }
};

template <class T>
struct trsm_batched : sized<trsm_batched<T>, blas::trsm_batched<T>> {
  using request = blas::trsm_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = several<access_mode::read, T>(gpu, square),
            .b = several<access_mode::read_write, T>(gpu, square, 2),
            .m = size,
            .n = n,
            .diag = blas::diagonal::unit};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    for (int i = 0; i < 3; ++i) {
      dense x(size, size);
      const auto got = content(gpu, r.b[static_cast<std::size_t>(i)]);
      for (std::int64_t j = 0; j < size * size; ++j) x(j % size, j / size) = got[static_cast<std::size_t>(j)];
      const answers back = numerics::reference::product(known<T>(unit_lower, 1 + i).with_unit_diagonal(), x);
      const dense right = known<T>(square, 2 + i);
      for (std::int64_t j = 0; j < size * size; ++j)
        EXPECT_EQ(back(j % size, j / size).value, right(j % size, j / size)) << j;
    }
  }
};

// Returns matrices with the rows [2 1; 4 5]: L = [1 0; 2 1] and U = [2 1; 0 3]. The inverse times 6 is [5 -1; -4 2].
template <class T>
std::vector<T> two_by_two() {
  return {T(2), T(4), T(1), T(5)};
}
template <access_mode M, class T>
std::vector<operand<T, M>> matrices(const device& gpu, std::vector<T> data) {
  std::vector<operand<T, M>> out;
  for (int i = 0; i < 3; ++i) {
    auto b = gpu.alloc<T>(data.size());
    gpu.upload(b, data);
    out.push_back(b);
  }
  return out;
}
template <class Operand>
void expect_each(const device& gpu, const list<Operand>& all, const std::vector<double>& want) {
  for (const auto& one : all) {
    const auto got = content(gpu, one);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(static_cast<double>(number(got[i]).re), want[i], 1e-5) << i;
  }
}

// The operands of all cases: three matrices of order n, which is 2, or -4 for the bad request.
template <class Case, class R>
struct factorization {
  using request = R;
  static request good(const device& gpu) { return Case::make(gpu, 2); }
  static request bad(const device& gpu) { return Case::make(gpu, -4); }
  static constexpr const char* bad_field = "n is -4";
};

template <class T>
struct getrf_batched : factorization<getrf_batched<T>, blas::getrf_batched<T>> {
  using request = blas::getrf_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = matrices<access_mode::read_write>(gpu, two_by_two<T>()), .info = gpu.alloc<std::int32_t>(3), .n = n};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_each(gpu, r.a, {2, 2, 1, 3});
    EXPECT_EQ(content(gpu, r.info), (std::vector<std::int32_t>{0, 0, 0}));
  }
};

template <class T>
struct getrs_batched : factorization<getrs_batched<T>, blas::getrs_batched<T>> {
  using request = blas::getrs_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = matrices<access_mode::read>(gpu, std::vector<T>{T(2), T(2), T(1), T(3)}),
            .b = matrices<access_mode::read_write>(gpu, std::vector<T>{T(3), T(9)}),
            .n = n,
            .nrhs = 1};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) { expect_each(gpu, r.b, {1, 1}); }
};

template <class T>
struct getri_batched : factorization<getri_batched<T>, blas::getri_batched<T>> {
  using request = blas::getri_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = matrices<access_mode::read>(gpu, std::vector<T>{T(2), T(2), T(1), T(3)}),
            .c = matrices<access_mode::write>(gpu, std::vector<T>(4)),
            .info = gpu.alloc<std::int32_t>(3),
            .n = n};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_each(gpu, r.c, {5 / 6.0, -4 / 6.0, -1 / 6.0, 2 / 6.0});
  }
};

// With pivots, the rows of [2 1; 4 5] are exchanged: L = [1 0; 0.5 1] and U = [4 5; 0 -1.5].
template <class T>
std::vector<T> two_by_two_pivoted() {
  return {T(4), T(0.5f), T(5), T(-1.5f)};
}
inline buffer<std::int32_t> pivots_of_three(const device& gpu) {
  auto b = gpu.alloc<std::int32_t>(6);
  gpu.upload(b, std::vector<std::int32_t>{2, 2, 2, 2, 2, 2});
  return b;
}

template <class T>
struct getrf_with_pivots : factorization<getrf_with_pivots<T>, blas::getrf_batched<T>> {
  using request = blas::getrf_batched<T>;
  static request make(const device& gpu, extent n) {
    request r = getrf_batched<T>::make(gpu, n);
    r.pivots = gpu.alloc<std::int32_t>(6);
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_each(gpu, r.a, {4, 0.5, 5, -1.5});
    EXPECT_EQ(content(gpu, *r.pivots), (std::vector<std::int32_t>{2, 2, 2, 2, 2, 2}));
    EXPECT_EQ(content(gpu, r.info), (std::vector<std::int32_t>{0, 0, 0}));
  }
};

template <class T>
struct getrs_with_pivots : factorization<getrs_with_pivots<T>, blas::getrs_batched<T>> {
  using request = blas::getrs_batched<T>;
  static request make(const device& gpu, extent n) {
    request r = getrs_batched<T>::make(gpu, n);
    r.a = matrices<access_mode::read>(gpu, two_by_two_pivoted<T>());
    r.pivots = pivots_of_three(gpu);
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) { expect_each(gpu, r.b, {1, 1}); }
};

template <class T>
struct getri_with_pivots : factorization<getri_with_pivots<T>, blas::getri_batched<T>> {
  using request = blas::getri_batched<T>;
  static request make(const device& gpu, extent n) {
    request r = getri_batched<T>::make(gpu, n);
    r.a = matrices<access_mode::read>(gpu, two_by_two_pivoted<T>());
    r.pivots = pivots_of_three(gpu);
    return r;
  }
  static void expect_right(const device& gpu, const request& r, const result<void>& a) {
    getri_batched<T>::expect_right(gpu, r, a);
  }
};

template <class T>
struct matinv_batched : factorization<matinv_batched<T>, blas::matinv_batched<T>> {
  using request = blas::matinv_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = matrices<access_mode::read>(gpu, two_by_two<T>()),
            .c = matrices<access_mode::write>(gpu, std::vector<T>(4)),
            .info = gpu.alloc<std::int32_t>(3),
            .n = n};
  }
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_each(gpu, r.c, {5 / 6.0, -4 / 6.0, -1 / 6.0, 2 / 6.0});
  }
};

template <class T>
struct geqrf_batched : factorization<geqrf_batched<T>, blas::geqrf_batched<T>> {
  using request = blas::geqrf_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = matrices<access_mode::read_write>(gpu, std::vector<T>{T(3), T(4), T(0), T(5)}),
            .tau = matrices<access_mode::write>(gpu, std::vector<T>(2)),
            .m = 2,
            .n = n};
  }
  // R is [-5 -4; 0 +-3]. The reflector of the first column is v = (1, 4 / 8), tau = 1.6.
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_each(gpu, r.a, {-5, 0.5, -4});
    expect_each(gpu, r.tau, {1.6});
  }
};

template <class T>
struct gels_batched : factorization<gels_batched<T>, blas::gels_batched<T>> {
  using request = blas::gels_batched<T>;
  static request make(const device& gpu, extent n) {
    return {.a = matrices<access_mode::read_write>(gpu, std::vector<T>{T(1), T(1), T(1), T(0), T(1), T(2)}),
            .c = matrices<access_mode::read_write>(gpu, std::vector<T>{T(1), T(0), T(2)}),
            .info = gpu.alloc<std::int32_t>(3),
            .m = 3,
            .n = n,
            .nrhs = 1};
  }
  // The least-squares line through (0, 1), (1, 0) and (2, 2) is 1/2 + x/2.
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    expect_each(gpu, r.c, {0.5, 0.5});
    EXPECT_EQ(content(gpu, r.info), (std::vector<std::int32_t>{0, 0, 0}));
  }
};

}  // namespace

using batched_requests =
    testing::Types<gemv_batched<float>, gemv_strided_batched<float>, trsm_batched<float>, getrf_batched<float>,
                   getrs_batched<float>, getri_batched<double>, getrf_with_pivots<double>, getrs_with_pivots<complex64>,
                   getri_with_pivots<float>, matinv_batched<complex64>, geqrf_batched<float>, gels_batched<double>>;
static_assert(covers<batched_requests, joined_requests<blas::all_batches, blas::all_factorizations>>);
INSTANTIATE_TYPED_TEST_SUITE_P(blas_batched, library_actor, batched_requests);

}  // namespace troupe::whole
