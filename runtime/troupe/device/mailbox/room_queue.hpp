// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <troupe/device/mailbox/room_answer.hpp>
#include <vector>

namespace troupe {

class ledger;

/// The answers that wait for room in the mailbox, in their order.
class room_queue {
 public:
  void add(ref<room_answer> answer);
  bool empty() const noexcept { return !wanted_.load(std::memory_order_seq_cst); }
  /// Answers those, from the front, whose requests there is room for all together.
  void serve(const ledger& slots);
  /// Answers those that `which` chooses with an error.
  void give_up(const std::function<bool(const room_answer&)>& which, const error& why);
  /// Answers those whose client has no time left, and returns the next time at which there will be one.
  std::int64_t give_up_overdue(std::int64_t now_ns);

 private:
  std::mutex lock_;
  std::vector<ref<room_answer>> answers_;
  std::atomic<bool> wanted_{false};
};

}  // namespace troupe
