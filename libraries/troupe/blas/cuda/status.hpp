// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <troupe/cuda/stream_status.hpp>

/// What cuBLAS answers, as errors.
namespace troupe::blas {

/// `call` failed. Says what the caller should do; `handle_is_broken` when the library is to be opened anew.
error failed(const char* call, cublasStatus_t status, CUstream stream, bool& handle_is_broken);

/// The same where there is no request that could have the library opened anew.
inline result<void> done(const char* call, cublasStatus_t status, CUstream stream = nullptr) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  bool broken = false;
  return failed(call, status, stream, broken);
}

}  // namespace troupe::blas
