// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cufftXt.h>

#include <troupe/cuda/stream_status.hpp>

/// What cuFFT answers, as errors.
namespace troupe::fft {

/// `call` failed. Says what the caller should do; `plan_is_broken` when the library is to be opened anew.
error failed(const char* call, cufftResult status, CUstream stream, bool& plan_is_broken);

/// The same where there is no request that could have the library opened anew.
inline result<void> done(const char* call, cufftResult status, CUstream stream = nullptr) {
  if (status == CUFFT_SUCCESS) [[likely]]
    return {};
  bool broken = false;
  return failed(call, status, stream, broken);
}

}  // namespace troupe::fft
