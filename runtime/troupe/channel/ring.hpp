// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/result.hpp>
#include <troupe/channel/parking.hpp>

namespace troupe {

struct ring_header;

/// The shared memory of one ring: many producers (the threads of one process), one consumer (usually in another
/// process), records of any size up to half the capacity, delivered in the order in which they were claimed.
class ring_region {
 public:
  static constexpr std::size_t granule = 64;  ///< unit of space; every record starts on one
  static constexpr std::size_t least_capacity = 256;
  static constexpr std::size_t most_capacity = std::size_t{1} << 30;

  /// Returns the bytes of memory of a ring for `capacity` bytes of records, record headers included.
  static std::size_t bytes_for(std::size_t capacity) noexcept;
  /// Makes an empty ring. `capacity` must be a power of two, `memory` aligned to 128 bytes. Tickets grow from
  /// `first_ticket`.
  static result<ring_region> format(std::span<std::byte> memory, std::size_t capacity, std::uint64_t first_ticket = 1);
  /// Opens a ring that the other side has made in this memory.
  static result<ring_region> open(std::span<std::byte> memory);

  std::size_t capacity() const noexcept { return granules_ * granule; }
  /// Returns the largest payload that always fits an empty ring.
  std::size_t largest_record() const noexcept;

 private:
  friend class ring_writer;
  friend class ring_reader;
  ring_region(ring_header* header, std::uint64_t granules) noexcept;
  std::byte* at(std::uint64_t position) const noexcept { return data_ + (position & (granules_ - 1)) * granule; }

  ring_header* header_;
  std::byte* data_;
  std::uint64_t granules_;
};

enum class claim_status : std::uint8_t {
  claimed,
  full,       ///< no room: retry when the consumer has caught up
  too_large,  ///< never fits: see `ring_region::largest_record`
  violation,  ///< the consumer's tail is impossible: the shared memory is corrupt
};

/// Room for one record, to be filled, then published or skipped. Until then the consumer does not pass it.
struct ring_claim {
  claim_status status = claim_status::full;
  std::uint64_t ticket = 0;   ///< place in the order of records: grows, is never 0 and never reused
  std::byte* data = nullptr;  ///< aligned to 16 bytes
  std::size_t bytes = 0;      ///< as requested
  explicit operator bool() const noexcept { return status == claim_status::claimed; }
};

/// The producers' end. A ring has one writer in its lifetime, which any number of threads share.
/// `claim` and `publish` are lock-free, allocate nothing and make no system call. The consumer is not trusted.
class ring_writer {
 public:
  explicit ring_writer(const ring_region& region) noexcept;
  ring_writer(const ring_writer&) = delete;
  ring_writer& operator=(const ring_writer&) = delete;

  [[nodiscard]] ring_claim claim(std::size_t bytes) noexcept;
  /// Hands the record to the consumer. `kind` is for the caller to choose, below 2^31.
  void publish(const ring_claim& claim, std::uint32_t kind = 0) noexcept;
  /// Frees the room without a record. The consumer never sees it.
  void skip(const ring_claim& claim) noexcept;
  /// Wakes the consumer if it sleeps, after one `publish` or `skip` or several. Returns true if that took a system
  /// call.
  bool wake_if_sleeping() noexcept { return parking_.wake_if_sleeping(); }

  std::size_t largest_record() const noexcept { return region_.largest_record(); }
  /// Returns a ticket that no claim so far exceeds and every later claim does.
  std::uint64_t newest_ticket() const noexcept { return head_.load(std::memory_order_acquire); }

 private:
  bool refresh_freed() noexcept;

  const ring_region region_;
  parking_ref parking_;
  // Next position to claim. Private, so that the consumer cannot damage it.
  alignas(64) std::atomic<std::uint64_t> head_;
  alignas(64) std::atomic<std::uint64_t> freed_;  // the consumer's tail as last checked
};

enum class read_status : std::uint8_t {
  none,
  record,
  too_small,  ///< the record does not fit `into`; it stays in the ring
  violation,  ///< the bytes cannot be a record: the shared memory is corrupt. Final
};

struct ring_record {
  read_status status = read_status::none;
  std::uint32_t kind = 0;
  std::uint64_t ticket = 0;
  std::span<const std::byte> payload;
  explicit operator bool() const noexcept { return status == read_status::record; }
};

/// The consumer's end, for one thread. Whatever bytes the memory holds, no access leaves the ring, and each size is
/// read once.
class ring_reader {
 public:
  explicit ring_reader(const ring_region& region) noexcept;
  ring_reader(const ring_reader&) = delete;
  ring_reader& operator=(const ring_reader&) = delete;

  /// Returns the next record in place, valid until `pop`. For producers that are trusted not to write to a published
  /// record.
  ring_record peek() noexcept;
  /// Frees the record that `peek` has returned.
  void pop() noexcept;
  /// Copies the next record out, once, and frees it. For producers that are not trusted: `payload` is in `into`.
  ring_record read(std::span<std::byte> into) noexcept;

  /// Announces sleep. Returns false, and announces nothing, if something has arrived. After true the caller checks,
  /// with seq_cst loads, everything else that `parking()` is woken for, and then calls `park` or `cancel_park`.
  [[nodiscard]] bool prepare_park() noexcept;
  /// Sleeps until a producer wakes it, or spuriously less long. Returns false if the deadline (monotonic clock) has
  /// passed.
  bool park(std::int64_t deadline_ns = no_deadline) noexcept { return parking_.park(deadline_ns); }
  void cancel_park() noexcept { parking_.cancel(); }
  /// Returns where this reader sleeps, for threads of its process that have other work for it. Any thread.
  parking_ref parking() const noexcept { return parking_; }

 private:
  void free(std::uint64_t granules) noexcept;

  const ring_region region_;
  parking_ref parking_;
  std::uint64_t position_;    // the tail; the copy in shared memory is for the writer and never read back
  std::uint64_t peeked_ = 0;  // granules of the record that peek has returned
  bool violated_ = false;
};

}  // namespace troupe
