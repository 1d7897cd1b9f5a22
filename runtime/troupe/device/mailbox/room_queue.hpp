// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <troupe/device/asked.hpp>
#include <vector>

namespace troupe {

class request_mailbox;
class request_scope;

/// The state of the pending that `device::room` returns.
struct room_answer final : detail::asked<void> {
  room_answer(std::shared_ptr<device_core> core, request_mailbox& in, std::uint32_t requests,
              std::shared_ptr<request_scope> of)
      : asked(std::move(core)), mailbox(in), wanted(requests), scope(std::move(of)) {}
  void cancel() noexcept override;

  request_mailbox& mailbox;  ///< lives as long as the device, which this answer keeps alive
  const std::uint32_t wanted;
  const std::shared_ptr<request_scope> scope;  ///< may be null
};

class answering;
class ledger;

/// The unanswered calls of `room()`, oldest first.
class room_queue {
 public:
  void add(ref<room_answer> answer);
  bool empty() const noexcept { return !wanted_.load(std::memory_order_seq_cst); }
  /// Answers the oldest calls for which there is room, counting the room of all of them together.
  void serve(const answering& now, const ledger& slots);
  /// Fails the calls for which `which` returns true.
  void fail_if(const answering& now, const std::function<bool(const room_answer&)>& which, const error& why);
  /// Fails the calls whose scope's deadline has passed. Returns the next deadline.
  std::int64_t fail_overdue(const answering& now, std::int64_t now_ns);

 private:
  std::mutex lock_;
  std::vector<ref<room_answer>> answers_;
  std::atomic<bool> wanted_{false};
};

}  // namespace troupe
