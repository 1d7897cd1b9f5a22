// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <utility>
#include <vector>

namespace troupe {

/// Which of the requests that have started run at this moment. Where the lanes are streams of a device, what has
/// started may only have been enqueued.
class running_requests {
 public:
  /// Under the lock that retires requests. `retired`: how many operations of each lane have been.
  running_requests(const protocol::view& channel, const ledger& requests,
                   const std::array<std::uint64_t, max_lanes>& retired, bool streams);

  /// Of those without an answer: a ticket, or 0. It waits for nothing, whatever the worker's memory says.
  std::uint64_t oldest() const noexcept { return oldest_; }
  /// One that has started and has a time limit.
  bool runs(std::uint32_t slot, std::uint64_t ticket) const noexcept;

 private:
  const ledger_entry* entry_at(std::uint32_t lane, std::uint64_t sequence, std::uint32_t& slot) const noexcept;
  bool is_open(std::uint64_t ticket) const noexcept;

  const protocol::view channel_;
  const ledger& requests_;
  const bool streams_;
  std::vector<std::uint64_t> open_;  // tickets, in their order
  std::uint64_t oldest_ = 0;
  std::array<std::uint64_t, max_lanes> heads_{};  // what is first in its lane of all that is not done; tickets, or 0
  std::vector<std::uint64_t> with_heads_;         // what shares a call with one of these
};

}  // namespace troupe
