// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <troupe/async/answers/pending_state.hpp>
#include <troupe/memory/copying/copy_threads.hpp>
#include <vector>

namespace troupe {

class transfer;

/// Tracks the downloads in flight. Driving threads copy the data of downloads into ordinary memory. For the worker, a
/// download is complete before the application has copied the data to its destination. Answers that promise the data
/// wait here until it has.
class download_tracker {
 public:
  explicit download_tracker(copy_threads& copies) noexcept : copies_(copies) {}

  /// Notes that the download with this ticket is in flight.
  void begin(std::uint64_t ticket);
  /// Notes that the download has ended: its data has arrived, or never will. Ignores a ticket that is not in flight.
  void end(std::uint64_t ticket) noexcept;
  bool under_way() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; }
  /// Completes `answer` when all downloads with a smaller ticket have ended, successfully or not: then nothing writes
  /// to their destinations any more.
  void answer_after(std::uint64_t ticket, const result<void>& with, ref<pending_state<void>> answer);

  void add(std::shared_ptr<transfer> t);
  bool has_transfers(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return has_transfers_.load(order);
  }
  /// Returns true if there is data to copy. A hint.
  bool has_data() const noexcept;
  struct progress {
    bool some_ended = false;
    bool impossible = false;  ///< a transfer's counter, which the worker writes, has an impossible value
  };
  /// Copies the data that has arrived.
  progress advance() noexcept;
  /// Restarts every unanswered transfer, because another worker will run its request.
  void begin_again() noexcept;

 private:
  struct waiting_answer {
    std::uint64_t ticket;
    result<void> with;
    ref<pending_state<void>> answer;
  };
  bool any_before(std::uint64_t ticket) const noexcept;

  copy_threads& copies_;
  mutable std::mutex transfers_lock_;
  std::vector<std::shared_ptr<transfer>> transfers_;
  std::atomic<bool> has_transfers_{false};
  std::mutex tickets_lock_;
  std::vector<std::uint64_t> tickets_;
  std::vector<waiting_answer> waiting_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace troupe
