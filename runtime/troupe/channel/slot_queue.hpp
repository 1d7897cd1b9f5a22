// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <troupe/channel/parking.hpp>

namespace troupe {

/// The shared memory of a mailbox: a record of fixed size for each slot, and the order in which slots were sent. Only
/// the senders write it, so readers may map it read-only, and sent records outlive a reader that dies: the next reader
/// first reads a list of slots that are kept for it, and continues from there. A record stays valid until the sender
/// uses its slot again.
class slot_queue_region {
 public:
  static constexpr std::uint32_t most_slots = 1 << 20;

  static std::size_t bytes_for(std::uint32_t slots, std::size_t record_bytes) noexcept;
  /// `slots` must be a power of two, `record_bytes` a multiple of 64, and `memory` zeroed and aligned to 64 bytes.
  slot_queue_region(std::span<std::byte> memory, std::uint32_t slots, std::size_t record_bytes) noexcept;

 private:
  friend class slot_queue_writer;
  friend class slot_queue_reader;
  std::atomic<std::uint64_t>& entry(std::uint64_t ticket) const noexcept { return entries_[ticket & (slots_ - 1)]; }
  std::span<std::byte> record(std::uint32_t slot) const noexcept {
    return {records_ + slot * record_bytes_, record_bytes_};
  }
  std::uint64_t* kept() const noexcept { return reinterpret_cast<std::uint64_t*>(records_ + slots_ * record_bytes_); }

  std::atomic<std::uint64_t>* entries_;
  std::byte* records_;
  std::uint32_t slots_;
  std::size_t record_bytes_;
};

/// The senders' end, for any number of threads. Lock-free and never full: there is an entry for each slot.
class slot_queue_writer {
 public:
  /// `parking` is the word on which the reader sleeps. Tickets count from `first_ticket` without gaps.
  slot_queue_writer(const slot_queue_region& region, parking_ref parking, std::uint64_t first_ticket = 1) noexcept
      : region_(region), parking_(parking), newest_(first_ticket - 1) {}
  slot_queue_writer(const slot_queue_writer&) = delete;

  /// Returns the slot's record. Fill it before `publish`.
  std::span<std::byte> record(std::uint32_t slot) const noexcept { return region_.record(slot); }
  /// Claims the next ticket. The reader does not pass it until it is published.
  std::uint64_t claim() noexcept { return newest_.fetch_add(1, std::memory_order_acq_rel) + 1; }
  /// Sends the slot with this ticket. Also a seq_cst fence.
  void publish(std::uint64_t ticket, std::uint32_t slot) noexcept;
  /// Wakes the reader if it sleeps. Call it after one or several calls of `publish`.
  bool wake_if_sleeping() noexcept { return parking_.wake_if_sleeping(); }

  /// Returns the newest ticket claimed so far.
  std::uint64_t newest_ticket() const noexcept { return newest_.load(std::memory_order_acquire); }
  /// Returns true if all tickets up to this one are published. It soon becomes true, because senders publish right
  /// after a claim.
  bool all_published(std::uint64_t ticket) const noexcept;
  /// Sets entry `i` of the list that the next reader reads before its first ticket. Must be called while there is no
  /// reader.
  void keep(std::uint32_t i, std::uint64_t ticket, std::uint32_t slot) noexcept;

 private:
  const slot_queue_region region_;
  parking_ref parking_;
  alignas(64) std::atomic<std::uint64_t> newest_;
};

/// A slot that was sent.
struct sent_slot {
  std::uint64_t ticket = 0;
  std::uint32_t slot = 0;  ///< less than the number of slots
  std::span<const std::byte> record;
};

/// The reader's end, for one thread. It trusts senders not to send a slot again while the reader uses it.
class slot_queue_reader {
 public:
  slot_queue_reader(const slot_queue_region& region, parking_ref parking, std::uint64_t first_ticket = 1) noexcept
      : region_(region), parking_(parking), next_(first_ticket) {}
  slot_queue_reader(const slot_queue_reader&) = delete;

  /// Continues where an earlier reader stopped: first with `kept` slots of the list, then with `next_ticket`. Must be
  /// called before all other functions.
  void take_over(std::uint32_t kept, std::uint64_t next_ticket) noexcept {
    kept_ = kept;
    next_ = next_ticket;
  }
  /// Returns the next slot in order; the same one until `pop`.
  std::optional<sent_slot> peek() const noexcept;
  /// Returns the slot `distance` tickets after that of peek(), if it has been sent and no kept slot is left.
  std::optional<sent_slot> peek_beyond(std::uint32_t distance) const noexcept;
  bool empty() const noexcept { return arrived(std::memory_order_acquire) == 0; }
  void pop() noexcept { taken_ < kept_ ? ++taken_ : ++next_; }

  /// Announces the sleep. Returns false, and announces nothing, if a slot has arrived. If it returns true, the caller
  /// must check, with seq_cst loads, for everything else that other threads wake `parking()` for, and then call `park`
  /// or `cancel_park`.
  [[nodiscard]] bool prepare_park() noexcept;
  void park() noexcept { parking_.park(); }
  void cancel_park() noexcept { parking_.cancel(); }
  parking_ref parking() const noexcept { return parking_; }

 private:
  std::uint64_t arrived(std::memory_order order) const noexcept;  // the next entry; 0 if it is not published
  sent_slot sent_as(std::uint64_t entry) const noexcept;

  const slot_queue_region region_;
  parking_ref parking_;
  std::uint64_t next_;  // next ticket
  std::uint32_t kept_ = 0, taken_ = 0;
};

}  // namespace troupe
