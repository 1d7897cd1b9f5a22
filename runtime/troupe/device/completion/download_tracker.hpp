// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <troupe/async/pending_state.hpp>
#include <troupe/memory/copy_threads.hpp>
#include <vector>

namespace troupe {

class transfer;

/// The downloads that are under way. Those of ordinary memory are copied to their places by the threads that drive the
/// device. A download is complete for the worker before the application has copied the data to its place: answers that
/// promise the data wait here until it has.
class download_tracker {
 public:
  explicit download_tracker(copy_threads& copies) noexcept : copies_(copies) {}

  /// A download was queued with this ticket.
  void begin(std::uint64_t ticket);
  /// Its data is in its place, or never will be. Does nothing for a ticket that is not under way.
  void end(std::uint64_t ticket) noexcept;
  bool under_way() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; }
  /// Answers when the downloads that were queued before `ticket` have ended, well or not: only then is nothing written
  /// to their places any more.
  void answer_after(std::uint64_t ticket, const result<void>& with, ref<pending_state<void>> answer);

  void add(std::shared_ptr<transfer> t);
  bool has_transfers(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return has_transfers_.load(order);
  }
  /// Is there anything to copy? A hint.
  bool has_data() const noexcept;
  struct progress {
    bool some_ended = false;
    bool impossible = false;  ///< the worker's counter of a transfer says what cannot be
  };
  /// Copies what is there.
  progress advance() noexcept;
  /// Another worker will run what has not been answered.
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
