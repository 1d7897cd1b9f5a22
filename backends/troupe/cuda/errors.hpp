// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

/// Code that engines for CUDA share. Only workers link it: applications do not depend on CUDA.
namespace troupe::cuda {

/// Returns true if the driver reports this status only after it has ended the context's kernels.
constexpr bool ends_kernels(CUresult r) noexcept {
  switch (r) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

/// Returns true if every later call in the process fails after this status, in any context.
constexpr bool is_sticky(CUresult r) noexcept {
  if (ends_kernels(r)) return true;
  switch (r) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

constexpr reaction reaction_to(CUresult r) noexcept {
  if (is_sticky(r)) return reaction::context_lost;
  switch (r) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
      return reaction::retry_later;
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return reaction::unsupported;
    default:
      return reaction::fatal;
  }
}

/// Formats CUDA's version number: 13000 becomes "13.0".
std::string version_text(int version);
/// Returns "driver for CUDA 13.0", the version text of engines that need only the driver.
inline std::string driver_text() {
  int version = 0;
  (void)::cuDriverGetVersion(&version);
  return "driver for CUDA " + version_text(version);
}
/// Returns the status as "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
std::string text_of(CUresult r);

/// Makes the error of a failed driver call. `what` names the call and its arguments.
inline error failed(const std::string& what, CUresult r) {
  return error(error::details{.reaction = reaction_to(r),
                              .domain = "cuda",
                              .code = static_cast<std::int64_t>(r),
                              .text = what + ": " + text_of(r)});
}

inline result<void> done(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) [[likely]]
    return {};
  return failed(what, r);
}
/// Checks the status of a driver call that was made for a request.
inline result<void> done(CUresult r, std::string_view request, const char* call) {
  if (r == CUDA_SUCCESS) [[likely]]
    return {};
  return failed(std::string(request) + ": " + call, r);
}

}  // namespace troupe::cuda
