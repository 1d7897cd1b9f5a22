// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <troupe/cuda/stream_status.hpp>

/// cuBLAS's statuses as errors.
namespace troupe::blas {

/// Makes the error of a failed `call`, with the reaction for the caller. Sets `handle_is_broken` if the library must be
/// reopened.
error failed(const char* call, cublasStatus_t status, CUstream stream, bool& handle_is_broken);

/// Checks the status of a call that is made outside of requests, where the library cannot be reopened.
inline result<void> done(cublasStatus_t status, const char* call, CUstream stream = nullptr) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  bool broken = false;
  return failed(call, status, stream, broken);
}

}  // namespace troupe::blas
