// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/cuda/status.hpp>

namespace troupe::blas {

error failed(const char* call, cublasStatus_t status, CUstream stream, bool& handle_is_broken) {
  const auto code = static_cast<std::int64_t>(status);
  const std::string text = std::string(call) + " returned " + ::cublasGetStatusName(status);
  const auto refused = [&](reaction what_to_do, std::string_view meaning) {
    return cuda::library_refused_on(stream, "blas", what_to_do, code, text, meaning);
  };
  switch (status) {
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return refused(reaction::unsupported,
                     ": cuBLAS cannot do this with these types, sizes and alignments on this GPU. Operands that "
                     "begin at a multiple of 16 bytes, with leading dimensions that are multiples of 16, or wider "
                     "element types may work");
    case CUBLAS_STATUS_ALLOC_FAILED:
      return refused(reaction::retry_later, ": the device's memory is full");
    case CUBLAS_STATUS_INVALID_VALUE:
      return refused(reaction::fatal, ", which our own checks should have refused");
    case CUBLAS_STATUS_LICENSE_ERROR:
      return refused(reaction::unsupported, "");
    default:
      return cuda::library_failed_on(stream, "blas", text, code, handle_is_broken);
  }
}

}  // namespace troupe::blas
