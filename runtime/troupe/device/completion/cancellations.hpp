// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <troupe/base/error.hpp>
#include <troupe/device/mailbox/shared_channel.hpp>
#include <vector>

namespace troupe {

/// The requests that are cancelled, on their way to the thread that answers them. The word of a request's slot says
/// whether it has started or was cancelled, and is written by the first of the two.
class cancellations {
 public:
  struct one {
    std::uint32_t slot;
    std::uint64_t ticket;
    const char* why;
    reaction how;
  };

  explicit cancellations(shared_channel& channel) noexcept : channel_(channel) {}

  /// False: it has started, or has been cancelled before. Any thread.
  bool mark(std::uint32_t slot, std::uint64_t ticket, const char* why, reaction how) noexcept;
  /// Of a request that is not published yet.
  void forbid(std::uint32_t slot, std::uint64_t ticket, const char* why) noexcept;
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

  /// With the drive lock: those since the last call, until the next.
  std::span<const one> take();
  /// With the drive lock. Calls `change`, which shows the channel of another worker, and marks there whatever was
  /// marked and not taken: it must not run.
  template <class Change>
  result<void> carry_over(Change&& change) {
    const std::scoped_lock guard(lock_);
    if (auto changed = change(); !changed) return changed;
    for (const one& c : marked_) write(c.slot, c.ticket);
    return {};
  }
  void write(std::uint32_t slot, std::uint64_t ticket) noexcept {
    channel_->slot(slot).store(protocol::slot_word(ticket, protocol::phase::cancelled));
  }

 private:
  shared_channel& channel_;
  std::mutex lock_;
  std::vector<one> marked_, taken_;
  std::atomic<bool> any_{false};
};

}  // namespace troupe
