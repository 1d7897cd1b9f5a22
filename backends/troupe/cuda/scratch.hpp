// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <troupe/base/try.hpp>
#include <troupe/cuda/stream_status.hpp>
#include <troupe/worker/engine.hpp>

#include <memory>
#include <utility>

namespace troupe::cuda {

/// Device memory for one request. It is freed in stream order; memory of a recorded request is freed with its graph.
class scratch {
 public:
  /// Allocates memory for the request of `c`. `domain` names the library in errors.
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
  friend class kept_scratch;
  explicit scratch(void* kept) noexcept : memory_(reinterpret_cast<CUdeviceptr>(kept)), kept_(true) {}
  scratch(CUdeviceptr memory, CUstream stream) noexcept : memory_(memory), stream_(stream) {}
  CUdeviceptr memory_;
  CUstream stream_ = nullptr;
  bool kept_ = false;
};

/// Device memory that a lane keeps for its requests, which use it one after the other (see per_lane). An allocation for
/// each request would cost some microseconds, and would keep consecutive launches from overlapping.
class kept_scratch {
 public:
  /// The most bytes that a lane may keep.
  static constexpr std::size_t most = std::size_t{64} << 20;

  static result<std::unique_ptr<kept_scratch>> make() { return std::make_unique<kept_scratch>(); }
  kept_scratch() = default;
  kept_scratch(const kept_scratch&) = delete;
  kept_scratch& operator=(const kept_scratch&) = delete;
  ~kept_scratch() {
    if (memory_ != 0) (void)::cuMemFree(memory_);
  }
  result<void> use(const call&) noexcept { return {}; }
  /// Returns at least `bytes` bytes. For more than `most` bytes, and for a recorded request, does the same as
  /// scratch::make.
  result<scratch> take(const call& c, std::string_view domain, std::size_t bytes) {
    if (c.recording != nullptr || bytes > most) return scratch::make(c, domain, bytes);
    if (const auto stream = static_cast<CUstream>(c.stream); bytes > bytes_ || stream != stream_) {
      CUdeviceptr made = 0;
      TROUPE_TRY(done_on(stream, domain, "cuMemAllocAsync", ::cuMemAllocAsync(&made, bytes, stream)));
      if (memory_ != 0) (void)::cuMemFreeAsync(memory_, stream_);
      memory_ = made, bytes_ = bytes, stream_ = stream;
    }
    return scratch(reinterpret_cast<void*>(memory_));
  }

 private:
  CUdeviceptr memory_ = 0;
  std::size_t bytes_ = 0;
  CUstream stream_ = nullptr;
};

}  // namespace troupe::cuda
