// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/cuda/status.hpp>
#include <troupe/cuda/cublas_status.hpp>

namespace troupe::blas {

error failed(const char* call, cublasStatus_t status, CUstream stream, bool& handle_is_broken) {
  return cuda::cublas_failed("blas", call, status, ::cublasGetStatusName(status), stream, handle_is_broken);
}

}  // namespace troupe::blas
