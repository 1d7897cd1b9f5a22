// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of element types that BLAS lacks: blocks of A and B are converted to float, which is exact, and multiplied
// by sgemm.
#include <memory>
#include <troupe/blas/host/kernels.hpp>
#include <troupe/blas/host/products.hpp>

namespace troupe::blas {
namespace {

// A sum of 1024 products of int8 is at most 2^24, so float holds it and all partial sums exactly.
constexpr std::int64_t block = 512, exact_depth = 1024;

/// Memory for floats, uninitialized because it is written before it is read.
using floats = std::unique_ptr<float[]>;
floats make_floats(std::int64_t n) { return floats(new float[static_cast<std::size_t>(n)]); }

/// A block of op(X), converted to float. It is transposed in memory if op transposes.
template <class T>
class block_of {
 public:
  block_of(op o, const T* x, std::int64_t ld, std::int64_t most_rows, std::int64_t most_columns)
      : turned_(o != op::none), x_(x), ld_(ld), memory_(make_floats(most_rows * most_columns)) {}

  void load(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    if (turned_) std::swap(row, column), std::swap(rows, columns);
    rows_ = rows;
    if (ld_ == rows) return to_float(x_ + row + column * ld_, memory_.get(), rows * columns);
    for (std::int64_t j = 0; j < columns; ++j) to_float(x_ + row + (column + j) * ld_, memory_.get() + j * rows, rows);
  }
  const float* data() const noexcept { return memory_.get(); }
  blasint ld() const noexcept { return static_cast<blasint>(rows_); }

 private:
  bool turned_;
  const T* x_;
  std::int64_t ld_, rows_ = 0;
  floats memory_;
};

void sgemm(op ta, op tb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a, blasint lda,
           const float* b, blasint ldb, float beta, float* c, std::int64_t ldc) {
  cblas_sgemm(CblasColMajor, code(ta), code(tb), narrow(m), narrow(n), narrow(k), alpha, a, lda, b, ldb, beta, c,
              narrow(ldc));
}

/// Accumulates the sums of one block of C. For float results: in C itself.
template <class T>
class direct_sums {
 public:
  direct_sums(const matrix_product<T, float>& p, std::int64_t, std::int64_t) : p_(p) {}
  template <class A, class B>
  void add(std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t n, std::int64_t from, std::int64_t k,
           const A& a, const B& b) {
    sgemm(p_.trans_a, p_.trans_b, m, n, k, p_.alpha, a.data(), a.ld(), b.data(), b.ld(), from == 0 ? p_.beta : 1,
          p_.c + row + column * p_.ldc, p_.ldc);
  }
  void store(std::int64_t, std::int64_t, std::int64_t, std::int64_t) {}

 private:
  const matrix_product<T, float>& p_;
};

/// Sums of 16-bit results: in a buffer, rounded once at the end.
template <class T>
class buffered_sums {
 public:
  buffered_sums(const matrix_product<T, T>& p, std::int64_t most_rows, std::int64_t most_columns)
      : p_(p), sums_(make_floats(most_rows * most_columns)), column_(make_floats(most_rows)) {}
  template <class A, class B>
  void add(std::int64_t, std::int64_t, std::int64_t m, std::int64_t n, std::int64_t from, std::int64_t k, const A& a,
           const B& b) {
    sgemm(p_.trans_a, p_.trans_b, m, n, k, p_.alpha, a.data(), a.ld(), b.data(), b.ld(), from == 0 ? 0.0f : 1.0f,
          sums_.get(), m);
  }
  void store(std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
      T* const c = p_.c + row + (column + j) * p_.ldc;
      float* const sums = sums_.get() + j * m;
      if (p_.beta != 0) {
        to_float(c, column_.get(), m);
        for (std::int64_t i = 0; i < m; ++i) sums[i] += p_.beta * column_[static_cast<std::size_t>(i)];
      }
      to_narrow(sums, c, m);
    }
  }

 private:
  const matrix_product<T, T>& p_;
  floats sums_, column_;
};

/// Sums of int32 results: the sum over each 1024 steps of k is exact in float, and these sums are added as
/// integers.
class whole_sums {
 public:
  whole_sums(const matrix_product<std::int8_t, std::int32_t>& p, std::int64_t most_rows, std::int64_t most_columns)
      : p_(p),
        part_(make_floats(most_rows * most_columns)),
        sums_(new std::int32_t[static_cast<std::size_t>(most_rows * most_columns)]) {}
  template <class A, class B>
  void add(std::int64_t, std::int64_t, std::int64_t m, std::int64_t n, std::int64_t from, std::int64_t k, const A& a,
           const B& b) {
    sgemm(p_.trans_a, p_.trans_b, m, n, k, 1, a.data(), a.ld(), b.data(), b.ld(), 0, part_.get(), m);
    if (from == 0) std::fill_n(sums_.get(), m * n, 0);
    add_whole(sums_.get(), part_.get(), m * n);
  }
  void store(std::int64_t row, std::int64_t column, std::int64_t m, std::int64_t n) {
    // Adds as unsigned integers, so that overflow wraps around as on a GPU.
    const auto alpha = static_cast<std::uint32_t>(p_.alpha), beta = static_cast<std::uint32_t>(p_.beta);
    for (std::int64_t j = 0; j < n; ++j) {
      std::int32_t* const c = p_.c + row + (column + j) * p_.ldc;
      const std::int32_t* const sums = sums_.get() + j * m;
      for (std::int64_t i = 0; i < m; ++i) {
        const std::uint32_t before = beta == 0 ? 0 : beta * static_cast<std::uint32_t>(c[i]);
        c[i] = static_cast<std::int32_t>(alpha * static_cast<std::uint32_t>(sums[i]) + before);
      }
    }
  }

 private:
  const matrix_product<std::int8_t, std::int32_t>& p_;
  floats part_;
  std::unique_ptr<std::int32_t[]> sums_;
};

/// C = beta * C, without the product.
template <class T, class C>
void scale_result(const matrix_product<T, C>& p) {
  for (std::int64_t j = 0; j < p.n; ++j)
    for (std::int64_t i = 0; i < p.m; ++i) {
      C& c = p.c[i + j * p.ldc];
      if constexpr (std::is_same_v<C, std::int32_t>)
        c = static_cast<C>(static_cast<std::uint32_t>(p.beta) * static_cast<std::uint32_t>(c));
      else
        c = p.beta == 0 ? C(0.0f) : C(p.beta * static_cast<float>(c));
    }
}

template <class Sums, class T, class C>
void multiply_blocks(const matrix_product<T, C>& p) {
  if (p.alpha == 0) return scale_result(p);
  const std::int64_t rows = std::min(p.m, block), columns = std::min(p.n, block), depth = std::min(p.k, exact_depth);
  block_of<T> a(p.trans_a, p.a, p.lda, rows, depth), b(p.trans_b, p.b, p.ldb, depth, columns);
  Sums sums(p, rows, columns);
  for (std::int64_t j = 0; j < p.n; j += columns)
    for (std::int64_t i = 0; i < p.m; i += rows) {
      const std::int64_t m = std::min(rows, p.m - i), n = std::min(columns, p.n - j);
      for (std::int64_t l = 0; l < p.k; l += depth) {
        const std::int64_t k = std::min(depth, p.k - l);
        a.load(i, l, m, k);
        b.load(l, j, k, n);
        sums.add(i, j, m, n, l, k, a, b);
      }
      sums.store(i, j, m, n);
    }
}

}  // namespace

void multiply(const matrix_product<half, half>& p) { multiply_blocks<buffered_sums<half>>(p); }
void multiply(const matrix_product<half, float>& p) { multiply_blocks<direct_sums<half>>(p); }
void multiply(const matrix_product<bfloat16, bfloat16>& p) { multiply_blocks<buffered_sums<bfloat16>>(p); }
void multiply(const matrix_product<bfloat16, float>& p) { multiply_blocks<direct_sums<bfloat16>>(p); }
void multiply(const matrix_product<std::int8_t, std::int32_t>& p) { multiply_blocks<whole_sums>(p); }
void multiply(const matrix_product<std::int8_t, float>& p) { multiply_blocks<direct_sums<std::int8_t>>(p); }

}  // namespace troupe::blas
