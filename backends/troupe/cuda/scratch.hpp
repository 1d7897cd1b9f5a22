// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <troupe/base/try.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/worker/engine.hpp>

#include <utility>

namespace troupe::cuda {

/// Device memory for one request. It is freed in stream order, or together with the graph that records the request.
class scratch {
 public:
  /// Allocates memory for the request of `c`, in the library `domain`.
  static result<scratch> make(const call& c, std::string_view domain, std::size_t bytes) {
    if (c.recording != nullptr) [[unlikely]]
      return scratch(TROUPE_TRY(c.scratch(bytes)));
    const auto stream = static_cast<CUstream>(c.stream);
    CUdeviceptr memory = 0;
    TROUPE_TRY(done_on(stream, domain, "cuMemAllocAsync", ::cuMemAllocAsync(&memory, bytes, stream)));
    return scratch(memory, stream);
  }
  scratch(scratch&& o) noexcept : memory_(std::exchange(o.memory_, 0)), stream_(o.stream_), kept_(o.kept_) {}
  scratch& operator=(scratch&&) = delete;
  ~scratch() {
    if (memory_ != 0 && !kept_) (void)::cuMemFreeAsync(memory_, stream_);
  }
  CUdeviceptr address() const noexcept { return memory_; }
  template <class T>
  T* as() const noexcept {
    return reinterpret_cast<T*>(memory_);
  }

 private:
  explicit scratch(void* kept) noexcept : memory_(reinterpret_cast<CUdeviceptr>(kept)), kept_(true) {}
  scratch(CUdeviceptr memory, CUstream stream) noexcept : memory_(memory), stream_(stream) {}
  CUdeviceptr memory_;
  CUstream stream_ = nullptr;
  bool kept_ = false;
};

}  // namespace troupe::cuda
