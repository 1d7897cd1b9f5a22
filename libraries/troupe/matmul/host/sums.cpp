// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/blas/host/products.hpp>
#include <troupe/matmul/host/sums.hpp>

namespace troupe::matmul {
namespace {

template <class T>
blas::matrix_factor<T> factor_of(const host_matrix& m) noexcept {
  const matrix_shape& s = m.shape;
  const T* const data = static_cast<const T*>(m.data);
  if (s.row_stride == 1 || s.rows == 1) return {data, s.columns == 1 ? s.rows : s.column_stride};
  return {data, s.rows == 1 ? s.columns : s.row_stride, true};
}

template <class T, class C>
void multiply_as(const host_matrix& a, const host_matrix& b, C* sums, std::int64_t ld) {
  if (a.shape.columns == 0) {
    for (std::int64_t j = 0; j < b.shape.columns; ++j) std::fill_n(sums + j * ld, a.shape.rows, C());
    return;
  }
  blas::multiply<T, C>(a.shape.rows, b.shape.columns, a.shape.columns, factor_of<T>(a), factor_of<T>(b), 0, sums, ld);
}

}  // namespace

void sum_products(const host_matrix& a, const host_matrix& b, float* sums, std::int64_t ld) {
  if (a.type == dtype::f16) return multiply_as<half>(a, b, sums, ld);
  if (a.type == dtype::bf16) return multiply_as<bfloat16>(a, b, sums, ld);
  multiply_as<float>(a, b, sums, ld);
}
void sum_products(const host_matrix& a, const host_matrix& b, double* sums, std::int64_t ld) {
  multiply_as<double>(a, b, sums, ld);
}
void sum_products(const host_matrix& a, const host_matrix& b, complex64* sums, std::int64_t ld) {
  multiply_as<complex64>(a, b, sums, ld);
}
void sum_products(const host_matrix& a, const host_matrix& b, complex128* sums, std::int64_t ld) {
  multiply_as<complex128>(a, b, sums, ld);
}
void sum_products(const host_matrix& a, const host_matrix& b, std::int32_t* sums, std::int64_t ld) {
  multiply_as<std::int8_t>(a, b, sums, ld);
}

int openblas_threads() noexcept { return openblas_get_num_threads(); }
const char* openblas_version() noexcept { return openblas_get_config(); }

}  // namespace troupe::matmul
