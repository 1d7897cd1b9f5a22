// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/cudnn/handle.hpp>
#include <troupe/dnn/cudnn/status.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// The handles with which kernels of cuDNN are executed, one for each lane. Each is used by one thread at a time.
class lane_handles {
 public:
  explicit lane_handles(std::size_t lanes) : lanes_(lanes) {}
  std::size_t lanes() const noexcept { return lanes_.size(); }

  /// Calls `f(handle)` with the handle of the call's lane, which is set to the call's stream.
  template <class F>
  result<void> with_handle(const call& c, F&& f) {
    if (c.lane >= lanes_.size())
      return error(reaction::fatal, "dnn", cat("the call's lane is ", c.lane, "; expected less than ", lanes_.size()));
    lane& on = lanes_[c.lane];
    const auto stream = static_cast<CUstream>(c.stream);
    if (on.library.get() == nullptr) on.library = TROUPE_TRY(make_handle());
    if (!on.has_stream || on.stream != stream) {
      if (const cudnnStatus_t s = calls().set_stream(on.library.get(), stream); s != CUDNN_STATUS_SUCCESS)
        return failure_of("cudnnSetStream", s, on, stream);
      on.stream = stream, on.has_stream = true;
    }
    const cudnnStatus_t s = f(on.library.get());
    if (s == CUDNN_STATUS_SUCCESS) [[likely]]
      return {};
    return failure_of("cudnnBackendExecute", s, on, stream);
  }

 private:
  struct lane {
    handle library;
    CUstream stream = nullptr;
    bool has_stream = false;
  };

  static error failure_of(const char* call, cudnnStatus_t s, lane& on, CUstream stream) {
    bool is_broken = false;
    error e = failed(call, s, stream, is_broken);
    if (is_broken) on = {};
    return e;
  }

  std::vector<lane> lanes_;
};

}  // namespace troupe::dnn::cudnn
