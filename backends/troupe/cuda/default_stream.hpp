// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

/// Call after a vendor's library was opened or has made a plan, and before lanes use it. Such a call may copy ordinary
/// host memory to the device in the default stream: the driver returns before the copy has ended, and a lane's stream
/// does not wait for the default stream. cuFFT 12 sets a pointer in this way; its kernels read it as null if the GPU
/// was busy. Other libraries were not seen to do so, but may. `domain` is the library.
inline result<void> await_default_stream(std::string_view domain) {
  return done_on(nullptr, domain, "cuStreamSynchronize", ::cuStreamSynchronize(nullptr));
}

}  // namespace troupe::cuda
