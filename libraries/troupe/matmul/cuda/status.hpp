// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <troupe/cuda/cublas_status.hpp>

/// Converts cuBLASLt's statuses to errors.
namespace troupe::matmul {

/// Returns the error of a failed call.
inline error failed(const char* call, cublasStatus_t status, CUstream stream, bool& library_is_broken) {
  return cuda::cublas_failed("matmul", call, status, ::cublasLtGetStatusName(status), stream, library_is_broken);
}
/// The same for a call outside requests.
inline error failed(const char* call, cublasStatus_t status) {
  bool broken = false;
  return failed(call, status, nullptr, broken);
}

}  // namespace troupe::matmul
