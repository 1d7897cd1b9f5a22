// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <troupe/cuda/cublas_status.hpp>

/// Conversion of cuBLASLt's statuses to errors.
namespace troupe::matmul {

/// Returns the error of a failed call in a request. Sets `library_is_broken` if the library must be reopened.
inline error failed(const char* call, cublasStatus_t status, CUstream stream, bool& library_is_broken) {
  return cuda::cublas_failed("matmul", call, status, ::cublasLtGetStatusName(status), stream, library_is_broken);
}
/// Returns the error of a failed call outside requests, where the library cannot be reopened.
inline error failed(const char* call, cublasStatus_t status) {
  bool broken = false;
  return failed(call, status, nullptr, broken);
}

}  // namespace troupe::matmul
