// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/cuda/stream_status.hpp>

namespace troupe::cuda {

/// Call after a vendor's library was opened or has made a plan, and before lanes use it. Such a call may copy to the
/// device in the default stream, from ordinary memory: the driver returns before the last of it has arrived, and a
/// lane's stream does not wait for the default one. cuFFT 12 sets a pointer in this way, which its kernels found to be
/// null when the GPU was busy. Other libraries were not seen to do so, but do not promise it. `domain` is the library.
inline result<void> await_default_stream(std::string_view domain) {
  return done_on(nullptr, domain, "cuStreamSynchronize", ::cuStreamSynchronize(nullptr));
}

}  // namespace troupe::cuda
