// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/blas.hpp>

#include "contract.hpp"

namespace troupe::whole {
namespace {

// Small whole numbers: every order of summing gives the same.
template <class T>
buffer<T> numbers(const device& gpu, std::size_t count, int first = 1) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<T>(static_cast<int>(i % 7) + first);
  auto b = gpu.alloc<T>(count);
  gpu.upload(b, data);
  return b;
}
template <class T>
T number(std::size_t i, int first = 1) {
  return static_cast<T>(static_cast<int>(i % 7) + first);
}

template <class T>
struct gemm {
  using request = blas::gemm<T>;
  static constexpr int m = 5, n = 4, k = 3;
  static request make(const device& gpu, extent rows) {
    return {.a = numbers<T>(gpu, m * k),
            .b = numbers<T>(gpu, k * n),
            .c = numbers<T>(gpu, m * n),
            .m = rows,
            .n = n,
            .k = k,
            .alpha = 2,
            .beta = 3};
  }
  static request good(const device& gpu) { return make(gpu, m); }
  static request bad(const device& gpu) { return make(gpu, -m); }
  static constexpr const char* bad_field = "m is -5";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto c = content(gpu, r.c);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::size_t p = 0; p < k; ++p) sum += number<T>(i + p * m) * number<T>(p + j * k);
        EXPECT_EQ(c[i + j * m], 2 * sum + 3 * number<T>(i + j * m)) << "element " << i << ", " << j;
      }
    }
  }
};

template <class T>
struct gemv {
  using request = blas::gemv<T>;
  static constexpr int m = 5, n = 3;
  static request make(const device& gpu, extent lda) {
    return {.a = numbers<T>(gpu, m * n), .x = numbers<T>(gpu, n), .y = gpu.alloc<T>(m), .m = m, .n = n, .lda = lda};
  }
  static request good(const device& gpu) { return make(gpu, tight); }
  static request bad(const device& gpu) { return make(gpu, m - 1); }
  static constexpr const char* bad_field = "lda is 4";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto y = content(gpu, r.y);
    for (std::size_t i = 0; i < m; ++i) {
      T sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += number<T>(i + j * m) * number<T>(j);
      EXPECT_EQ(y[i], sum) << "element " << i;
    }
  }
};

template <class T>
struct axpy {
  using request = blas::axpy<T>;
  static request make(const device& gpu, extent incx) {
    return {.x = numbers<T>(gpu, 99), .y = numbers<T>(gpu, 50, 2), .n = 50, .alpha = 3, .incx = incx};
  }
  static request good(const device& gpu) { return make(gpu, 2); }
  static request bad(const device& gpu) { return make(gpu, 0); }
  static constexpr const char* bad_field = "incx is 0";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto y = content(gpu, r.y);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i], 3 * number<T>(2 * i) + number<T>(i, 2)) << "element " << i;
  }
};

template <class T>
struct scal {
  using request = blas::scal<T>;
  static request make(const device& gpu, extent n) { return {.x = numbers<T>(gpu, 50), .n = n, .alpha = 5}; }
  static request good(const device& gpu) { return make(gpu, 50); }
  static request bad(const device& gpu) { return make(gpu, 51); }
  static constexpr const char* bad_field = "x holds 50";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    const auto x = content(gpu, r.x);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], 5 * number<T>(i)) << "element " << i;
  }
};

template <class T>
struct dot {
  using request = blas::dot<T>;
  static request make(const device& gpu, extent incy) {
    return {.x = numbers<T>(gpu, 50), .y = numbers<T>(gpu, 50, 2), .n = 50, .incy = incy};
  }
  static request good(const device& gpu) { return make(gpu, 1); }
  static request bad(const device& gpu) { return make(gpu, 2); }
  static constexpr const char* bad_field = "y holds 50";
  static void expect_right(const device&, const request&, const result<T>& answer) {
    T sum = 0;
    for (std::size_t i = 0; i < 50; ++i) sum += number<T>(i) * number<T>(i, 2);
    EXPECT_EQ(*answer, sum);
  }
};

}  // namespace

using blas_requests = testing::Types<gemm<float>, gemm<double>, gemv<float>, gemv<double>, axpy<float>, axpy<double>,
                                     scal<float>, scal<double>, dot<float>, dot<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(blas, library_actor, blas_requests);

}  // namespace troupe::whole
