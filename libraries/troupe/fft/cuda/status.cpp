// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/compiler/for_each.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/cuda/status.hpp>

namespace troupe::fft {
namespace {

const char* name_of_status(cufftResult s) noexcept {
  switch (s) {
#define TROUPE_STATUS(UNUSED, NAME) \
  case NAME:                        \
    return #NAME;
    TROUPE_FOR_EACH(TROUPE_STATUS, , CUFFT_INVALID_PLAN, CUFFT_ALLOC_FAILED, CUFFT_INVALID_TYPE, CUFFT_INVALID_VALUE,
                    CUFFT_INTERNAL_ERROR, CUFFT_EXEC_FAILED, CUFFT_SETUP_FAILED, CUFFT_INVALID_SIZE,
                    CUFFT_UNALIGNED_DATA, CUFFT_INVALID_DEVICE, CUFFT_NO_WORKSPACE, CUFFT_NOT_IMPLEMENTED,
                    CUFFT_NOT_SUPPORTED, CUFFT_MISSING_DEPENDENCY, CUFFT_NVRTC_FAILURE, CUFFT_NVJITLINK_FAILURE,
                    CUFFT_NVSHMEM_FAILURE)
#undef TROUPE_STATUS
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
