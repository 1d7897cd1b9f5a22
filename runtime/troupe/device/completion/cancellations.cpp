// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/completion/cancellations.hpp>

namespace troupe {

bool cancellations::mark(std::uint32_t slot, std::uint64_t ticket, const reason& why) noexcept {
  // The word and the list change together under the lock, so each marked slot is on the list.
  const std::scoped_lock guard(lock_);
  std::atomic<std::uint64_t>& word = channel_->slot(slot);
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  for (int changes = 0; changes < most_changes_; ++changes) {
    if (protocol::ticket_of(seen) >= ticket) return false;
    if (!word.compare_exchange_strong(seen, protocol::slot_word(ticket, protocol::phase::cancelled))) continue;
    marked_.push_back({slot, ticket, why});
    any_.store(true, std::memory_order_relaxed);
    return true;
  }
  impossible_.store(true, std::memory_order_relaxed);
  any_.store(true, std::memory_order_relaxed);
  return false;
}

void cancellations::forbid(std::uint32_t slot, std::uint64_t ticket, const char* why) noexcept {
  const std::scoped_lock guard(lock_);
  write(slot, ticket);
  marked_.push_back({slot, ticket, {why, reaction::caller_bug}});
  any_.store(true, std::memory_order_relaxed);
}

std::span<const cancellations::entry> cancellations::take() {
  const std::scoped_lock guard(lock_);
  taken_.clear();
  marked_.swap(taken_);
  any_.store(false, std::memory_order_relaxed);
  return taken_;
}

}  // namespace troupe
