// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/complex.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/request/view_shape.hpp>

namespace troupe::matmul {

/// A matrix in memory of the host.
struct host_matrix {
  const void* data;
  dtype type;
  matrix_shape shape;
};

/// sums = A * B, column by column with `ld` elements from one to the next, in OpenBLAS. A and B have elements of one
/// type: f32, f16 or bf16 to float, i8 to int32, f64, c64 and c128 to their own. Rows or columns of both are
/// neighbours.
void sum_products(const host_matrix& a, const host_matrix& b, float* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, double* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, complex64* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, complex128* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, std::int32_t* sums, std::int64_t ld);

/// Returns the number of threads that OpenBLAS uses, and its version.
int openblas_threads() noexcept;
const char* openblas_version() noexcept;

}  // namespace troupe::matmul
