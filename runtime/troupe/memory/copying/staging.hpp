// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/numbers/checked_count.hpp>

namespace troupe {

/// The progress of a transfer through a staging block. One side fills chunks of the block in turn, the other empties
/// them; both counts only grow. The filling side is at most `staging_plan::chunks` chunks ahead. Each side sleeps on
/// `turn`, which changes with every step. In a download, this header is in front of the chunks. In an upload, the
/// chunks are in memory that the worker can only read, after a `sent_header`, and this header is in a separate block. A
/// transfer whose counts are damaged is abandoned, because the next chunk may not be there.
struct staging_header {
  alignas(64) checked_count filled;  // chunks filled; not used by uploads
  alignas(64) checked_count emptied;
  alignas(64) std::atomic<std::uint32_t> turn{0};
  std::atomic<std::uint32_t> sleepers{0};
  std::atomic<std::uint32_t> broken{0};  // copy between devices: one half was abandoned

  void step(checked_count& count, std::uint64_t value) noexcept {
    count.store(value);
    turn.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(turn, futex_scope::shared);
  }
  void break_off() noexcept {
    broken.store(1, std::memory_order_seq_cst);
    turn.fetch_add(1, std::memory_order_seq_cst);
    futex_wake(turn, futex_scope::shared);
  }
  bool is_damaged() const noexcept {
    return filled.load() == checked_count::damaged || emptied.load() == checked_count::damaged;
  }
  bool is_broken() const noexcept { return broken.load(std::memory_order_seq_cst) != 0 || is_damaged(); }
  /// Waits for the other side: spins for a while, then sleeps. Each sleep is limited, because a worker may have
  /// overwritten `sleepers`, without which nobody wakes this thread.
  template <class Ready>
  void await(Ready&& ready) noexcept {
    constexpr int looks = 2000;
    constexpr std::int64_t longest_sleep_ns = 1'000'000'000;
    for (int i = 0; i < looks && !ready(); ++i) spin_hint();
    while (!ready()) sleep(ready, now_ns() + longest_sleep_ns);
  }
  /// Sleeps until either side takes a step, unless `ready()` returns true after the sleep was announced in `sleepers`.
  template <class Ready>
  void sleep(Ready&& ready, std::int64_t deadline_ns = no_deadline) noexcept {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = turn.load(std::memory_order_seq_cst);
    if (!ready()) futex_wait(turn, before, futex_scope::shared, deadline_ns);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
};

/// The header in front of an upload's chunks, which only the application writes.
struct alignas(64) sent_header {
  std::atomic<std::uint64_t> begun{0};  ///< chunks that the application has begun to fill, overwriting earlier ones
  checked_count filled;
  std::uint64_t digest = 0;  ///< a hash of all bytes that are sent; 0: not computed
};
static_assert(sizeof(sent_header) <= sizeof(staging_header));

/// The sizes of chunks and pieces. A chunk is small enough to stay in a processor's cache between the two copies, and
/// there are enough chunks for both sides to work at the same time.
struct staging_sizes {
  static constexpr std::uint64_t limit_of_chunks = 16;
  std::uint64_t one_request = std::uint64_t{64} << 10;  ///< up to this size, a transfer is a single copy
  std::uint64_t chunk = std::uint64_t{256} << 10;
  std::uint64_t most_chunks = limit_of_chunks;
  std::uint64_t largest_chunk = 0;  ///< chunks of long transfers grow up to this size; 0: they do not grow
  std::uint64_t piece = std::uint64_t{256} << 10;  ///< threads of the application share a chunk in pieces of this size

  /// Returns the sizes for a GPU. Each chunk costs its driver and its copy engine some microseconds, in which 256 KiB
  /// could cross the bus. A transfer in flight takes at most 32 MiB.
  static constexpr staging_sizes for_gpu() noexcept {
    staging_sizes out;
    out.largest_chunk = std::uint64_t{2} << 20;
    return out;
  }
  /// Returns the sizes for copies between devices, of which more are in flight within one limit.
  constexpr staging_sizes between_devices() const noexcept {
    staging_sizes out = *this;
    out.largest_chunk = std::min(largest_chunk, std::uint64_t{512} << 10);
    return out;
  }
};

/// The division of a transfer into chunks.
struct staging_plan {
  std::uint64_t bytes, chunk_bytes, chunks;

  static constexpr staging_plan for_bytes(std::uint64_t bytes, const staging_sizes& sizes = {}) noexcept {
    // Chunks grow only if there are enough of them, and in multiples of `chunk`, so that all begin at aligned
    // addresses.
    const std::uint64_t growth = std::min(bytes / sizes.most_chunks, sizes.largest_chunk) / sizes.chunk,
                        chunk = std::max<std::uint64_t>(growth, 1) * sizes.chunk;
    return {bytes, std::min(bytes, chunk), std::min((bytes + chunk - 1) / chunk, sizes.most_chunks)};
  }
  constexpr std::uint64_t count() const noexcept { return (bytes + chunk_bytes - 1) / chunk_bytes; }
  constexpr std::uint64_t size(std::uint64_t i) const noexcept {
    return std::min(chunk_bytes, bytes - i * chunk_bytes);
  }
  constexpr std::uint64_t block_bytes() const noexcept { return sizeof(staging_header) + chunk_bytes * chunks; }
  /// Returns the address of chunk `i`, after a header of either kind.
  std::byte* chunk(void* header, std::uint64_t i) const noexcept {
    return static_cast<std::byte*>(header) + sizeof(staging_header) + i % chunks * chunk_bytes;
  }
};

/// Returns true if chunk i may be filled: the chunk that was at its place in the staging block has been emptied.
inline bool may_fill(const staging_header& h, const staging_plan& plan, std::uint64_t i) noexcept {
  return i < plan.chunks || h.emptied.reaches(i + 1 - plan.chunks);
}
/// Returns the plan that the fields of a request describe.
template <class Request>
staging_plan plan_of(const Request& r) noexcept {
  return {static_cast<std::uint64_t>(r.bytes.value()), static_cast<std::uint64_t>(r.chunk_bytes.value()),
          static_cast<std::uint64_t>(r.chunks.value())};
}
/// Returns the header that both halves of a copy between devices share.
template <class Request>
staging_header& meeting_of(const Request& r) noexcept {
  return *reinterpret_cast<staging_header*>(static_cast<std::uintptr_t>(r.staging));
}

}  // namespace troupe
