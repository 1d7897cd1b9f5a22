// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/linux/unique_handle.hpp>

namespace troupe::bench {

/// The library that blas.host uses, called in this process with the same kernels as in a worker, for comparison.
class openblas {
 public:
  /// Loads the library. Throws `bad_result` if it is missing.
  openblas();

  /// C = A * B, all n by n.
  void dgemm(int n, const double* a, const double* b, double* c) const noexcept {
    dgemm_(column_major, as_it_is, as_it_is, n, n, n, 1, a, n, b, n, 0, c, n);
  }
  /// C = op(A) * op(B), all n by n; op transposes if `turn_a` or `turn_b` is true.
  void gemm(bool turn_a, bool turn_b, int n, const double* a, const double* b, double* c) const noexcept {
    dgemm_(column_major, op(turn_a), op(turn_b), n, n, n, 1, a, n, b, n, 0, c, n);
  }
  void gemm(bool turn_a, bool turn_b, int n, const float* a, const float* b, float* c) const noexcept {
    sgemm_(column_major, op(turn_a), op(turn_b), n, n, n, 1, a, n, b, n, 0, c, n);
  }
  /// y = A * x, A n by n.
  void sgemv(int n, const float* a, const float* x, float* y) const noexcept {
    sgemv_(column_major, as_it_is, n, n, 1, a, n, x, 1, 0, y, 1);
  }
  /// y = alpha * x + y
  void saxpy(int n, float alpha, const float* x, float* y) const noexcept { saxpy_(n, alpha, x, 1, y, 1); }

 private:
  static constexpr int column_major = 102, as_it_is = 111, transposed = 112;
  static int op(bool turn) noexcept { return turn ? transposed : as_it_is; }
  struct library_traits {
    using type = void*;
    static constexpr void* null = nullptr;
    static void close(void*) noexcept {}  // never unloaded, because it has threads
  };
  unique_handle<library_traits> library_;
  void (*dgemm_)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc) = nullptr;
  void (*sgemm_)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) = nullptr;
  void (*sgemv_)(int order, int trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx,
                 float beta, float* y, int incy) = nullptr;
  void (*saxpy_)(int n, float alpha, const float* x, int incx, float* y, int incy) = nullptr;
};

}  // namespace troupe::bench
