// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>
#include <cuda.h>

#include <string>
#include <troupe/base/result.hpp>

/// What cuBLAS and the driver answer, as errors.
namespace troupe::blas {

/// `call` failed. Answers what the caller should do; `handle_is_broken` when the library is to be opened anew.
error failed(const char* call, cublasStatus_t status, CUstream stream, bool& handle_is_broken);
error failed(const char* call, CUresult status, CUstream stream);

inline result<void> done(const char* call, CUresult status, CUstream stream) {
  if (status == CUDA_SUCCESS) [[likely]]
    return {};
  return failed(call, status, stream);
}

}  // namespace troupe::blas
