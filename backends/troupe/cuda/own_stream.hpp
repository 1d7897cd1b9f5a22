// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <string_view>
#include <troupe/base/try.hpp>
#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::cuda {

/// The stream that a lane uses. The lanes of helper threads have none in their calls: each makes its own, for which no
/// other thread waits.
class own_stream {
 public:
  /// Returns the stream of the call; if it has none, the lane's own stream, made on first use. `domain` names the
  /// library in errors.
  result<CUstream> of(const call& c, std::string_view domain) {
    if (c.stream != nullptr) return static_cast<CUstream>(c.stream);
    if (own_.get() == nullptr) {
      CUstream made = nullptr;
      TROUPE_TRY(done_on(nullptr, domain, "cuStreamCreate", ::cuStreamCreate(&made, CU_STREAM_NON_BLOCKING)));
      own_.reset(made);
    }
    return own_.get();
  }

 private:
  stream own_;
};

}  // namespace troupe::cuda
