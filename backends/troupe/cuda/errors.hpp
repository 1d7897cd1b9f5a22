// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

/// Code that engines for CUDA share. Only workers link it: applications do not depend on CUDA.
namespace troupe::cuda {

constexpr bool is_one_of(CUresult r, std::initializer_list<CUresult> all) noexcept {
  return std::find(all.begin(), all.end(), r) != all.end();
}
/// Returns true if the driver reports this status only after it has ended the context's kernels.
constexpr bool ends_kernels(CUresult r) noexcept {
  return is_one_of(r, {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT,
                       CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
                       CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED});
}
/// Returns true if every later call in the process fails after this status, in any context.
constexpr bool is_sticky(CUresult r) noexcept {
  return ends_kernels(r) ||
         is_one_of(r, {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                       CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_CONTAINED, CUDA_ERROR_TENSOR_MEMORY_LEAK,
                       CUDA_ERROR_EXTERNAL_DEVICE, CUDA_ERROR_UNKNOWN});
}
constexpr reaction reaction_to(CUresult r) noexcept {
  if (is_sticky(r)) return reaction::context_lost;
  if (is_one_of(r, {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_SYSTEM_NOT_READY, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
                    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED}))
    return reaction::retry_later;
  if (is_one_of(r, {CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE,
                    CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
                    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, CUDA_ERROR_UNSUPPORTED_PTX_VERSION}))
    return reaction::unsupported;
  return reaction::fatal;
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
