// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/protocol/shared_memory.hpp>
#include <utility>
#include <vector>

namespace troupe {

/// Finds the started requests that are running now. If lanes are GPU streams, a started request may only be enqueued.
class running_requests {
 public:
  /// `retired` has the number of operations of each lane that have been retired. The caller holds the drive lock.
  running_requests(const protocol::view& channel, const ledger& requests,
                   const std::array<std::uint64_t, max_lanes>& retired, bool streams);

  /// Returns the ticket of the oldest unanswered request, or 0. That request waits for nothing, whatever the worker's
  /// memory says.
  std::uint64_t oldest() const noexcept { return oldest_; }
  /// Returns the ticket of the oldest request in flight, answered or not, or 0.
  std::uint64_t oldest_open() const noexcept { return open_.empty() ? 0 : open_.front(); }
  /// Returns true if the request is running. Precondition: it has started and has a time limit.
  bool runs(std::uint32_t slot, std::uint64_t ticket) const noexcept;

 private:
  const ledger_entry* entry_at(std::uint32_t lane, std::uint64_t sequence, std::uint32_t& slot) const noexcept;
  bool is_open(std::uint64_t ticket) const noexcept;

  const protocol::view channel_;
  const ledger& requests_;
  const bool streams_;
  std::vector<std::uint64_t> open_;  // their tickets, sorted
  std::uint64_t oldest_ = 0;
  std::array<std::uint64_t, max_lanes> heads_{};   // ticket of the first unfinished request of each lane, or 0
  std::vector<std::uint64_t> grouped_with_heads_;  // tickets of requests that share a call with one of `heads_`
};

}  // namespace troupe
