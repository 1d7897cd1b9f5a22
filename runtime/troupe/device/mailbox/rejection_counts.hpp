// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cerrno>
#include <troupe/device/statistics.hpp>
#include <troupe/request/checker.hpp>

namespace troupe {

/// Counts the requests that the call itself rejected, by reason. Thread-safe.
class rejection_counts {
 public:
  void add(const error& why, const checker& checked) noexcept {
    counter_for(why, checked).fetch_add(1, std::memory_order_relaxed);
  }
  rejected_requests now() const noexcept {
    const auto read = [](const std::atomic<std::uint64_t>& n) { return n.load(std::memory_order_relaxed); };
    return {.invalid = read(invalid_),
            .stale_data = read(stale_data_),
            .mailbox_full = read(mailbox_full_),
            .overdue = read(overdue_),
            .no_memory = read(no_memory_),
            .stopped = read(stopped_)};
  }

 private:
  std::atomic<std::uint64_t>& counter_for(const error& why, const checker& checked) noexcept {
    if (checked.reads_stale_data()) return stale_data_;
    if (why.reaction() == reaction::stopped) return stopped_;
    if (why.reaction() != reaction::retry_later) return invalid_;
    return why.code() == EAGAIN ? mailbox_full_ : why.code() == ENOMEM ? no_memory_ : overdue_;
  }

  std::atomic<std::uint64_t> invalid_{0}, stale_data_{0}, mailbox_full_{0}, overdue_{0}, no_memory_{0}, stopped_{0};
};

}  // namespace troupe
