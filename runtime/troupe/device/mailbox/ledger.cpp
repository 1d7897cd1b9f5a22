// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/mailbox/ledger.hpp>

namespace troupe {

ledger::ledger(std::uint32_t capacity)
    : top_(0),
      capacity_(capacity),
      below_(std::make_unique<std::atomic<std::uint32_t>[]>(capacity)),
      entries_(std::make_unique<ledger_entry[]>(capacity)) {
  for (std::uint32_t i = 0; i < capacity; ++i)
    below_[i].store(i + 1 < capacity ? i + 1 : none, std::memory_order_relaxed);
}

std::uint32_t ledger::take() noexcept {
  // seq_cst, as in give_back: if a thread has announced that it waits for a slot and finds none free here, then the
  // thread that gives back a slot sees the announcement.
  std::uint64_t top = top_.load(std::memory_order_seq_cst);
  while (true) {
    const auto slot = static_cast<std::uint32_t>(top);
    if (slot == none) return none;
    const std::uint64_t next = ((top >> 32) + 1) << 32 | below_[slot].load(std::memory_order_relaxed);
    if (top_.compare_exchange_weak(top, next, std::memory_order_seq_cst)) return slot;
  }
}

void ledger::give_back(chain& all) noexcept {
  if (all.count_ == 0) return;
  std::uint64_t top = top_.load(std::memory_order_relaxed);
  do {
    below_[all.last_].store(static_cast<std::uint32_t>(top), std::memory_order_relaxed);
  } while (!top_.compare_exchange_weak(top, ((top >> 32) + 1) << 32 | all.first_, std::memory_order_seq_cst,
                                       std::memory_order_relaxed));
  all = {};
}

std::uint32_t ledger::in_flight() const noexcept {
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < capacity_; ++i) n += entries_[i].in_flight.load(std::memory_order_seq_cst);
  return n;
}

}  // namespace troupe
