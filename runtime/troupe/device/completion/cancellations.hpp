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

/// The cancelled requests that the driving thread has yet to answer. The slot's word says whether the request was
/// started or cancelled; whichever happens first writes it.
class cancellations {
 public:
  struct reason {
    const char* text;
    reaction how;
    int code = 0;  ///< the error's code
  };
  struct entry {
    std::uint32_t slot;
    std::uint64_t ticket;
    reason why;
  };

  /// `most_changes` is how often a worker may change a word while `mark` writes it. A correct worker changes it once,
  /// when it starts the request.
  explicit cancellations(shared_channel& channel, int most_changes = 4) noexcept
      : channel_(channel), most_changes_(most_changes) {}

  /// Cancels the request. Returns false if it has started or was cancelled before, or if a worker keeps changing its
  /// word. Any thread.
  bool mark(std::uint32_t slot, std::uint64_t ticket, const reason& why) noexcept;
  /// Cancels a request that is not published yet.
  void forbid(std::uint32_t slot, std::uint64_t ticket, const char* why) noexcept;
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

  /// Returns the entries marked since the last call, valid until the next call. The caller holds the drive lock.
  std::span<const entry> take();
  /// Returns true if a worker kept changing a word since the last call, which no correct worker does.
  bool take_impossible() noexcept { return impossible_.exchange(false, std::memory_order_relaxed); }
  /// Calls `change`, which maps another worker's channel, and then marks every entry that was not taken in that channel
  /// too, so that its request does not run. The caller holds the drive lock.
  template <class Change>
  result<void> carry_over(Change&& change) {
    const std::scoped_lock guard(lock_);
    if (auto changed = change(); !changed) return changed;
    for (const entry& c : marked_) write(c.slot, c.ticket);
    return {};
  }
  void write(std::uint32_t slot, std::uint64_t ticket) noexcept {
    channel_->slot(slot).store(protocol::slot_word(ticket, protocol::phase::cancelled));
  }

 private:
  shared_channel& channel_;
  const int most_changes_;
  std::mutex lock_;
  std::vector<entry> marked_, taken_;
  std::atomic<bool> any_{false}, impossible_{false};
};

}  // namespace troupe
