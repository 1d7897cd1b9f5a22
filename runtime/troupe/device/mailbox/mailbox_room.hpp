// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/device/mailbox/admission.hpp>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/device/mailbox/room_queue.hpp>

namespace troupe {

/// The threads and calls that wait for room in the mailbox: blocked threads, and unanswered calls of device::room.
class mailbox_room {
 public:
  mailbox_room(const ledger& requests, const admission& admission) noexcept
      : requests_(requests), admission_(admission) {}

  /// Counts the calling thread as blocked for as long as this object lives.
  class blocked {
   public:
    [[nodiscard]] explicit blocked(mailbox_room& room) noexcept : room_(room) {
      room_.blocked_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~blocked() { room_.blocked_.fetch_sub(1, std::memory_order_relaxed); }
    blocked(const blocked&) = delete;

   private:
    mailbox_room& room_;
  };
  bool has_blocked() const noexcept { return blocked_.load(std::memory_order_seq_cst) != 0; }

  room_queue& answers() noexcept { return answers_; }
  bool has_answers() const noexcept { return !answers_.empty(); }
  /// Answers the calls for which there is room, or all calls if the device refuses requests. The caller holds the drive
  /// lock, as always when several pendings are completed.
  void answer(const answering& now) {
    if (!admission_.refusing(std::memory_order_seq_cst)) return answers_.serve(now, requests_);
    answers_.fail_if(now, [](const room_answer&) { return true; }, admission_.refusal());
  }

 private:
  const ledger& requests_;
  const admission& admission_;
  room_queue answers_;
  std::atomic<std::uint32_t> blocked_{0};
};

}  // namespace troupe
