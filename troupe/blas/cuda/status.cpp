// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "status.hpp"

#include <troupe/base/cat.hpp>
#include <troupe/cuda/errors.hpp>

namespace troupe::blas {
namespace {

std::string text_of(CUresult status) {
  const char *name = nullptr, *text = nullptr;
  (void)::cuGetErrorName(status, &name);
  (void)::cuGetErrorString(status, &text);
  std::string out = name != nullptr ? name : cat("CUresult ", static_cast<int>(status));
  if (text != nullptr) out.append(" (").append(text).append(")");
  return out;
}

struct stream_state {
  CUresult lost = CUDA_SUCCESS;  // else what every call answers from now on: nothing works any more in this process
  CUstreamCaptureStatus records = CU_STREAM_CAPTURE_STATUS_NONE;
};

// A stream that records must not be queried: the query fails, and spoils what is recorded.
stream_state state_of(CUstream stream) noexcept {
  stream_state now;
  if (const CUresult asked = ::cuStreamIsCapturing(stream, &now.records); asked != CUDA_SUCCESS)
    return {cuda::is_sticky(asked) ? asked : CUDA_SUCCESS};
  if (now.records != CU_STREAM_CAPTURE_STATUS_NONE) return now;
  if (const CUresult asked = ::cuStreamQuery(stream); asked != CUDA_ERROR_NOT_READY) now.lost = asked;
  return now;
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
  const auto [lost, records] = state_of(stream);
  if (lost != CUDA_SUCCESS)
    return error_with(reaction::context_lost, static_cast<std::int64_t>(lost), text + ": " + text_of(lost));
  if (records == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    return error_with(reaction::unsupported, code, text + ": it cannot be part of a graph");
  handle_is_broken = true;
  return error_with(reaction::fatal, code, text + "; the library is opened anew");
}

error failed(const char* call, CUresult status, CUstream stream) {
  const std::string text = std::string(call) + ": " + text_of(status);
  const auto code = static_cast<std::int64_t>(status);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) return error_with(reaction::retry_later, code, text);
  if (status == CUDA_ERROR_NO_BINARY_FOR_GPU || status == CUDA_ERROR_NOT_SUPPORTED)
    return error_with(reaction::unsupported, code, text);
  const bool lost = cuda::is_sticky(status) || state_of(stream).lost != CUDA_SUCCESS;
  return error_with(lost ? reaction::context_lost : reaction::fatal, code, text);
}

}  // namespace troupe::blas
