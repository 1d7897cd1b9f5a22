// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/complex.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::matmul {

/// A matrix in host memory.
struct host_matrix {
  const void* data;
  dtype type;
  matrix_shape shape;
};

/// Computes sums = A * B with OpenBLAS. Sums are stored column by column, `ld` elements apart. A and B have elements of
/// one type: f32, f16 or bf16 for sums in float, i8 for sums in int32; f64, c64 or c128 for sums in the same type. The
/// rows or the columns of each factor must be contiguous.
void sum_products(const host_matrix& a, const host_matrix& b, float* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, double* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, complex64* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, complex128* sums, std::int64_t ld);
void sum_products(const host_matrix& a, const host_matrix& b, std::int32_t* sums, std::int64_t ld);

/// Returns the number of threads that OpenBLAS uses.
int openblas_threads() noexcept;
/// Returns the version of OpenBLAS.
const char* openblas_version() noexcept;

}  // namespace troupe::matmul
