// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

namespace troupe::blas {
namespace {

std::string text_of(CUresult status) {
  const char *name = nullptr, *text = nullptr;
  (void)::cuGetErrorName(status, &name);
  (void)::cuGetErrorString(status, &text);
  std::string out = name != nullptr ? name : "CUresult " + std::to_string(static_cast<int>(status));
  if (text != nullptr) out.append(" (").append(text).append(")");
  return out;
}

// What is not success here every call answers from now on: nothing works any more in this process.
CUresult state_of(CUstream stream) noexcept {
  const CUresult now = ::cuStreamQuery(stream);
  return now == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : now;
}

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
  if (const CUresult lost = state_of(stream); lost != CUDA_SUCCESS)
    return error_with(reaction::context_lost, static_cast<std::int64_t>(lost), text + ": " + text_of(lost));
  handle_is_broken = true;
  return error_with(reaction::fatal, code, text + "; the library is opened anew");
}

error failed(const char* call, CUresult status, CUstream stream) {
  const std::string text = std::string(call) + ": " + text_of(status);
  const auto code = static_cast<std::int64_t>(status);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) return error_with(reaction::retry_later, code, text);
  if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_NOT_SUPPORTED)
    return error_with(reaction::unsupported, code, text);
  return error_with(state_of(stream) != CUDA_SUCCESS ? reaction::context_lost : reaction::fatal, code, text);
}

}  // namespace troupe::blas
