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

/// The shared memory of a ring: many producers (the threads of one process), one consumer (usually in another process),
/// records of any size up to half the capacity, delivered in the order in which they were claimed.
class ring_region {
 public:
  static constexpr std::size_t granule = 64;  ///< unit of space: every record starts at a multiple of it
  static constexpr std::size_t least_capacity = 256;
  static constexpr std::size_t most_capacity = std::size_t{1} << 30;

  /// Returns the bytes of memory that a ring with this capacity takes. The capacity includes record headers.
  static std::size_t bytes_for(std::size_t capacity) noexcept;
  /// Makes an empty ring. `capacity` must be a power of two, `memory` aligned to 128 bytes. The first record has the
  /// ticket `first_ticket`, and later ones larger tickets.
  static result<ring_region> format(std::span<std::byte> memory, std::size_t capacity, std::uint64_t first_ticket = 1);
  /// Opens a ring that the other side has made in this memory.
  static result<ring_region> open(std::span<std::byte> memory);

  std::size_t capacity() const noexcept { return granules_ * granule; }
  /// Returns the size of the largest payload that fits an empty ring at every position.
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
  full,       ///< no space: retry when the consumer has read some records
  too_large,  ///< never fits: see `ring_region::largest_record`
  violation,  ///< the consumer's tail is impossible: the shared memory is corrupt
};

/// Space for one record. Fill it, then publish or skip it; the consumer does not pass it until then.
struct ring_claim {
  claim_status status = claim_status::full;
  std::uint64_t ticket = 0;   ///< place in the order of records: larger than earlier ones, never 0
  std::byte* data = nullptr;  ///< aligned to 16 bytes
  std::size_t bytes = 0;      ///< as requested
  explicit operator bool() const noexcept { return status == claim_status::claimed; }
};

/// The producers' end. A ring has one writer in its lifetime, which any number of threads share. `claim` and `publish`
/// are lock-free, allocate nothing and make no system call. The writer does not trust the consumer.
class ring_writer {
 public:
  explicit ring_writer(const ring_region& region) noexcept;
  ring_writer(const ring_writer&) = delete;
  ring_writer& operator=(const ring_writer&) = delete;

  [[nodiscard]] ring_claim claim(std::size_t bytes) noexcept;
  /// Passes the record to the consumer. `kind` is any number below 2^31, which the consumer receives too.
  void publish(const ring_claim& claim, std::uint32_t kind = 0) noexcept;
  /// Frees the space without a record: the consumer never sees it.
  void skip(const ring_claim& claim) noexcept;
  /// Wakes the consumer if it sleeps. Call it after one or several calls of `publish` or `skip`. Returns true if it
  /// made a system call.
  bool wake_if_sleeping() noexcept { return parking_.wake_if_sleeping(); }

  std::size_t largest_record() const noexcept { return region_.largest_record(); }
  /// Returns a ticket that is at least that of every claim so far, and below those of later claims.
  std::uint64_t newest_ticket() const noexcept { return head_.load(std::memory_order_acquire); }

 private:
  bool refresh_freed() noexcept;

  const ring_region region_;
  parking_ref parking_;
  // The next position to claim. Not in shared memory, so that the consumer cannot damage it.
  alignas(64) std::atomic<std::uint64_t> head_;
  alignas(64) std::atomic<std::uint64_t> freed_;  // the consumer's tail when it was last checked
};

enum class read_status : std::uint8_t {
  none,
  record,
  too_small,  ///< the record does not fit `into`; it stays in the ring
  violation,  ///< final: the bytes cannot be a record, so the shared memory is corrupt
};

struct ring_record {
  read_status status = read_status::none;
  std::uint32_t kind = 0;
  std::uint64_t ticket = 0;
  std::span<const std::byte> payload;
  explicit operator bool() const noexcept { return status == read_status::record; }
};

/// The consumer's end, for one thread. Whatever bytes the memory holds, no access leaves the ring; each size is read
/// once.
class ring_reader {
 public:
  explicit ring_reader(const ring_region& region) noexcept;
  ring_reader(const ring_reader&) = delete;
  ring_reader& operator=(const ring_reader&) = delete;

  /// Returns the next record in place, valid until `pop`. Only for producers that are trusted not to write to published
  /// records.
  ring_record peek() noexcept;
  /// Frees the record that `peek` returned.
  void pop() noexcept;
  /// Copies the next record into `into` and frees it. For producers that are not trusted: the copy is read from the
  /// ring once.
  ring_record read(std::span<std::byte> into) noexcept;

  /// Announces the sleep. Returns false, and announces nothing, if a record has arrived. If it returns true, the caller
  /// must check, with seq_cst loads, for everything else that other threads wake `parking()` for, and then call `park`
  /// or `cancel_park`.
  [[nodiscard]] bool prepare_park() noexcept;
  /// Sleeps until a producer wakes it; may wake spuriously. Returns false if the deadline (monotonic clock) has passed.
  bool park(std::int64_t deadline_ns = no_deadline) noexcept { return parking_.park(deadline_ns); }
  void cancel_park() noexcept { parking_.cancel(); }
  /// Returns the word on which this reader sleeps, for threads of its process that have other work for it. Thread-safe.
  parking_ref parking() const noexcept { return parking_; }

 private:
  void free(std::uint64_t granules) noexcept;

  const ring_region region_;
  parking_ref parking_;
  std::uint64_t position_;    // the tail; the copy in shared memory is for the writer and never read here
  std::uint64_t peeked_ = 0;  // granules of the record that `peek` returned
  bool violated_ = false;
};

}  // namespace troupe
