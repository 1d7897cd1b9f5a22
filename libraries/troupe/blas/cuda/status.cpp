// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

namespace troupe::blas {
namespace {

error error_with(reaction what_to_do, std::int64_t code, std::string text) {
  return error(error::details{.reaction = what_to_do, .domain = "blas", .code = code, .text = std::move(text)});
}

}  // namespace

error failed(const char* call, cublasStatus_t status, CUstream stream, bool& handle_is_broken) {
  const auto code = static_cast<std::int64_t>(status);
  const std::string text = std::string(call) + " answered " + ::cublasGetStatusName(status);
  switch (status) {
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return error_with(reaction::unsupported, code,
                        text +
                            ": cuBLAS has no way to do this with these types, sizes and alignments on this GPU. "
                            "Operands that begin at a multiple of 16 bytes, with leading dimensions that are "
                            "multiples of 16, or wider element types may work");
    case CUBLAS_STATUS_ALLOC_FAILED:
      return error_with(reaction::retry_later, code, text + ": the device's memory is full");
    case CUBLAS_STATUS_INVALID_VALUE:
      return error_with(reaction::fatal, code, text + ", which our own checks should have refused");
    case CUBLAS_STATUS_LICENSE_ERROR:
      return error_with(reaction::unsupported, code, text);
    default:
      break;
  }
  return cuda::library_failed_on(stream, "blas", text, code, handle_is_broken);
}

}  // namespace troupe::blas
