// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/complex.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/request/view_shape.hpp>

namespace troupe::matmul {

/// A matrix in host memory.
struct host_matrix {
  const void* data;
  dtype type;
  matrix_shape shape;
};

/// Computes sums = A * B in OpenBLAS, stored column by column with stride `ld`. A and B have elements of one type: f32,
/// f16 or bf16 for sums of float, i8 for int32; f64, c64 and c128 for sums of their own type. The rows or the columns
/// of both are contiguous.
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
