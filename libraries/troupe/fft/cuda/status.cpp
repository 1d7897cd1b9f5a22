// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/cuda/status.hpp>

namespace troupe::fft {
namespace {

const char* name_of_status(cufftResult s) noexcept {
  switch (s) {
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_UNALIGNED_DATA:
      return "CUFFT_UNALIGNED_DATA";
    case CUFFT_INVALID_DEVICE:
      return "CUFFT_INVALID_DEVICE";
    case CUFFT_NO_WORKSPACE:
      return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_IMPLEMENTED:
      return "CUFFT_NOT_IMPLEMENTED";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    case CUFFT_MISSING_DEPENDENCY:
      return "CUFFT_MISSING_DEPENDENCY";
    case CUFFT_NVRTC_FAILURE:
      return "CUFFT_NVRTC_FAILURE";
    case CUFFT_NVJITLINK_FAILURE:
      return "CUFFT_NVJITLINK_FAILURE";
    case CUFFT_NVSHMEM_FAILURE:
      return "CUFFT_NVSHMEM_FAILURE";
    default:
      return "an unknown status";
  }
}

}  // namespace

error failed(const char* call, cufftResult status, CUstream stream, bool& plan_is_broken) {
  const auto code = static_cast<std::int64_t>(status);
  const std::string text = cat(call, " returned ", name_of_status(status));
  const auto refused = [&](reaction what_to_do, std::string_view meaning) {
    return cuda::library_refused_on(stream, "fft", what_to_do, code, text, meaning);
  };
  switch (status) {
    case CUFFT_ALLOC_FAILED:
      return refused(reaction::retry_later, ": the device's memory is full");
    case CUFFT_INVALID_SIZE:
    case CUFFT_NOT_IMPLEMENTED:
    case CUFFT_NOT_SUPPORTED:
      return refused(
          reaction::unsupported,
          ": cuFFT does not support these sizes and layouts on this GPU. Contiguous elements or a smaller batch "
          "may work");
    case CUFFT_MISSING_DEPENDENCY:
      return refused(reaction::unsupported, ": callbacks need libnvJitLink of the same CUDA version");
    case CUFFT_NVRTC_FAILURE:
    case CUFFT_NVJITLINK_FAILURE:
      return refused(reaction::caller_bug, ": the callbacks could not be linked into cuFFT's kernels");
    case CUFFT_INVALID_TYPE:
    case CUFFT_INVALID_VALUE:
    case CUFFT_UNALIGNED_DATA:
      return refused(reaction::fatal, "; Troupe's own checks should have refused this request: please report it");
    default:
      return cuda::library_failed_on(stream, "fft", text, code, plan_is_broken);
  }
}

}  // namespace troupe::fft
