// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_api.h>

#include <string>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

/// Makes the error of a failed call of cuBLAS or cuBLASLt, with the reaction for the caller. `name` is the name of
/// `status`. Sets `handle_is_broken` if the library must be opened again.
inline error cublas_failed(std::string_view domain, const char* call, cublasStatus_t status, const char* name,
                           CUstream stream, bool& handle_is_broken) {
  const auto code = static_cast<std::int64_t>(status);
  const std::string text = std::string(call) + " returned " + name;
  const auto refused = [&](reaction what_to_do, std::string_view meaning) {
    return library_refused_on(stream, domain, what_to_do, code, text, meaning);
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
      return refused(reaction::fatal, "; Troupe's own checks should have refused this request: please report it");
    case CUBLAS_STATUS_LICENSE_ERROR:
      return refused(reaction::unsupported, "");
    default:
      return library_failed_on(stream, domain, text, code, handle_is_broken);
  }
}

}  // namespace troupe::cuda
