// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <troupe/base/try.hpp>

#include <utility>

#include "status.hpp"

namespace troupe::blas {

/// Device memory for one request: given back in the order of the stream, or with the graph that records it.
class temporary {
 public:
  /// Memory of a graph.
  explicit temporary(void* kept) noexcept : memory_(reinterpret_cast<CUdeviceptr>(kept)), kept_(true) {}
  static result<temporary> make(CUstream stream, std::size_t bytes) {
    CUdeviceptr memory = 0;
    TROUPE_TRY(done("cuMemAllocAsync", ::cuMemAllocAsync(&memory, bytes, stream), stream));
    return temporary(memory, stream);
  }
  temporary(temporary&& o) noexcept : memory_(std::exchange(o.memory_, 0)), stream_(o.stream_), kept_(o.kept_) {}
  temporary& operator=(temporary&&) = delete;
  ~temporary() {
    if (memory_ != 0 && !kept_) (void)::cuMemFreeAsync(memory_, stream_);
  }
  CUdeviceptr address() const noexcept { return memory_; }
  template <class T>
  T* as() const noexcept {
    return reinterpret_cast<T*>(memory_);
  }

 private:
  temporary(CUdeviceptr memory, CUstream stream) noexcept : memory_(memory), stream_(stream) {}
  CUdeviceptr memory_;
  CUstream stream_ = nullptr;
  bool kept_ = false;
};

}  // namespace troupe::blas
