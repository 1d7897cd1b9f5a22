// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cufftXt.h>

#include <troupe/cuda/stream_status.hpp>

/// cuFFT's statuses as errors.
namespace troupe::fft {

/// Makes the error of a failed `call`, with the reaction for the caller. Sets `plan_is_broken` if the plan must be made
/// again.
error failed(const char* call, cufftResult status, CUstream stream, bool& plan_is_broken);

/// Checks the status of a call that is made outside of requests, where no plan can be made again.
inline result<void> done(cufftResult status, const char* call, CUstream stream = nullptr) {
  if (status == CUFFT_SUCCESS) [[likely]]
    return {};
  bool broken = false;
  return failed(call, status, stream, broken);
}

}  // namespace troupe::fft
