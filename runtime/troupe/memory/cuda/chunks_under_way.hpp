// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/pinned.hpp>
#include <vector>

namespace troupe::memory {

/// For each lane, the number of transferred chunks that have arrived: a word in pinned memory that the lane's stream
/// writes after each chunk. An event would have to be queried from the driver, a call into the kernel that takes tens
/// of milliseconds while the driver is busy with the end of another process.
class arrivals {
 public:
  /// The counters of one lane, which runs one transfer at a time.
  struct lane {
    std::atomic<std::uint64_t>* arrived = nullptr;
    std::uint64_t sent = 0;
  };
  static result<arrivals> make(std::uint32_t lanes) {
    arrivals out;
    out.memory_ = TROUPE_TRY(cuda::make_pinned(lanes * apart));
    for (std::uint32_t i = 0; i < lanes; ++i)
      out.lanes_.push_back({.arrived = new (out.memory_.get() + i * apart) std::atomic<std::uint64_t>(0)});
    return out;
  }
  lane& operator[](std::uint32_t i) noexcept { return lanes_[i]; }

 private:
  static constexpr std::size_t apart = 64;  // bytes between counters: each has a cache line
  cuda::pinned_memory memory_;
  std::vector<lane> lanes_;
};

/// The chunks of a transfer that are in flight. They arrive in order.
class chunks_under_way {
 public:
  chunks_under_way(arrivals::lane& on, CUstream s) noexcept : on_(on), stream_(s), first_(on.sent) {}
  std::uint64_t count() const noexcept { return sent() - over_; }
  std::uint64_t sent() const noexcept { return on_.sent - first_; }
  std::uint64_t over() const noexcept { return over_; }

  result<void> send(void* to, const void* from, std::size_t bytes) {
    TROUPE_TRY(cuda::done(
        ::cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from), bytes, stream_),
        "cuMemcpyAsync"));
    return mark();
  }
  /// Counts everything enqueued since the last mark as one chunk.
  result<void> mark() {
    TROUPE_TRY(cuda::done(::cuStreamWriteValue64(stream_, reinterpret_cast<CUdeviceptr>(on_.arrived), on_.sent + 1,
                                                 CU_STREAM_WRITE_VALUE_DEFAULT),
                          "cuStreamWriteValue64"));
    ++on_.sent;
    return {};
  }
  /// Removes the oldest chunk and returns true, if it has arrived.
  result<bool> take_arrived() {
    if (count() == 0) return false;
    if (on_.arrived->load(std::memory_order_acquire) >= first_ + over_ + 1) {
      ++over_;
      asked_ns_ = 0;
      return true;
    }
    return ask_now_and_then();
  }
  result<void> await_all() {
    constexpr long nap_ns = 10'000;
    constexpr int spins = 10'000;
    for (int tries = 0; count() != 0;) {
      const auto one = TROUPE_TRY(take_arrived());
      if (one) continue;
      spin_hint();
      if (++tries < spins) continue;
      const timespec nap{.tv_sec = 0, .tv_nsec = nap_ns};
      ::nanosleep(&nap, nullptr);
    }
    return {};
  }

 private:
  // Asks the driver for errors now and then: otherwise a transfer would wait forever in a lost context.
  result<bool> ask_now_and_then() {
    constexpr std::int64_t silence_ns = 50'000'000;
    const std::int64_t now = now_ns();
    if (asked_ns_ == 0) asked_ns_ = now;
    if (now - asked_ns_ < silence_ns) return false;
    asked_ns_ = now;
    const CUresult r = ::cuStreamQuery(stream_);
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY) return cuda::failed("a copy", r);
    return false;
  }

  arrivals::lane& on_;
  CUstream stream_;
  std::uint64_t first_, over_ = 0;
  std::int64_t asked_ns_ = 0;  // time of the last question, or since when nothing has arrived; 0: a chunk has
};

}  // namespace troupe::memory
