// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// An entry is ticket * 2^20 + slot, at its ticket modulo the number of slots. The reader waits for its next ticket to
// appear there and never writes. No unread entry is overwritten: unread tickets are consecutive and each holds a slot,
// so at most as many exist as entries.
#include <troupe/channel/slot_queue.hpp>

namespace troupe {
namespace {

constexpr int slot_bits = 20;
static_assert(slot_queue_region::most_slots == 1u << slot_bits);

constexpr std::size_t entries_bytes(std::uint32_t slots) noexcept {
  return (slots * sizeof(std::uint64_t) + 63) / 64 * 64;
}

}  // namespace

std::size_t slot_queue_region::bytes_for(std::uint32_t slots, std::size_t record_bytes) noexcept {
  return entries_bytes(slots) + slots * record_bytes + slots * sizeof(std::uint64_t);
}

slot_queue_region::slot_queue_region(std::span<std::byte> memory, std::uint32_t slots,
                                     std::size_t record_bytes) noexcept
    : entries_(reinterpret_cast<std::atomic<std::uint64_t>*>(memory.data())),
      records_(memory.data() + entries_bytes(slots)),
      slots_(slots),
      record_bytes_(record_bytes) {}

// The fence is step W1 of parking_ref: the load of the sleeping flag stays after this store. It also keeps the sender's
// later loads after its earlier stores. A mailbox relies on that: it stores `in_flight` before and loads whether the
// scope is stopped afterwards, while a thread that stops the scope stores and loads in the opposite order, so that one
// of the two sees the other.
void slot_queue_writer::publish(std::uint64_t ticket, std::uint32_t slot) noexcept {
  region_.entry(ticket).store(ticket << slot_bits | slot, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool slot_queue_writer::all_published(std::uint64_t ticket) const noexcept {
  // A later ticket in the same entry proves that the earlier one was published and read.
  const std::uint64_t oldest = ticket < region_.slots_ ? 1 : ticket - region_.slots_ + 1;
  for (std::uint64_t t = oldest; t <= ticket; ++t)
    if (region_.entry(t).load(std::memory_order_seq_cst) >> slot_bits < t) return false;
  return true;
}

void slot_queue_writer::keep(std::uint32_t i, std::uint64_t ticket, std::uint32_t slot) noexcept {
  region_.kept()[i] = ticket << slot_bits | slot;
}

std::uint64_t slot_queue_reader::arrived(std::memory_order order) const noexcept {
  if (taken_ < kept_) return region_.kept()[taken_];
  const std::uint64_t found = region_.entry(next_).load(order);
  return found >> slot_bits == next_ ? found : 0;
}

sent_slot slot_queue_reader::sent_as(std::uint64_t entry) const noexcept {
  const auto slot = static_cast<std::uint32_t>(entry) & (region_.slots_ - 1);
  return {entry >> slot_bits, slot, region_.record(slot)};
}

std::optional<sent_slot> slot_queue_reader::peek() const noexcept {
  const std::uint64_t found = arrived(std::memory_order_acquire);
  if (found == 0) return {};
  return sent_as(found);
}

std::optional<sent_slot> slot_queue_reader::peek_beyond(std::uint32_t distance) const noexcept {
  const std::uint64_t found = region_.entry(next_ + distance).load(std::memory_order_relaxed);
  if (found >> slot_bits != next_ + distance || taken_ < kept_) return {};
  return sent_as(found);
}

bool slot_queue_reader::prepare_park() noexcept {
  parking_.prepare();
  if (arrived(std::memory_order_seq_cst) == 0) return true;
  parking_.cancel();
  return false;
}

}  // namespace troupe
