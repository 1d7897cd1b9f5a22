// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/async/executor.hpp>
#include <troupe/async/pending_state.hpp>
#include <troupe/memory/copy_threads.hpp>
#include <troupe/memory/staging.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// A download into ordinary memory that is in flight. The worker fills chunks of a staging block and a driving thread
/// empties them. The caller is answered once the request is answered and the last byte has been copied.
class transfer {
 public:
  using finisher = void (*)(pending_core& state, const error* why) noexcept;

  /// `staging` holds the header and the chunks. Precondition: the device has checked `plan`.
  transfer(block_ref staging, staging_plan plan, std::byte* to, ref<pending_core> state, finisher finish) noexcept
      : staging_(std::move(staging)), plan_(plan), to_(to), state_(std::move(state)), finish_(finish) {}

  /// The request's ticket. Must be set before the first call of `advance`.
  std::uint64_t ticket = 0;

  enum class progress : std::uint8_t {
    waits,       ///< nothing to do now
    finished,    ///< the caller must be answered; returned by one call only
    impossible,  ///< the worker's counter has an impossible value
  };
  /// Copies the chunks that the worker has filled.
  progress advance(copy_threads& copies) noexcept;
  /// Restarts the transfer, because another worker will run the request. Discards the previous worker's counts.
  void begin_again() noexcept;
  void answer_caller() noexcept { finish_(*state_, *answer_ ? nullptr : &answer_->error()); }
  /// Returns true if `advance` has something to copy. A hint; takes no lock.
  bool has_data() const noexcept {
    return header().filled.load(std::memory_order_relaxed) != emptied_.load(std::memory_order_relaxed);
  }
  /// Notes the request's own answer.
  void request_answered(const result<void>& answer) noexcept;

 private:
  staging_header& header() const noexcept { return *reinterpret_cast<staging_header*>(staging_->host); }

  std::mutex lock_;
  block_ref staging_;
  const staging_plan plan_;
  std::byte* to_;
  ref<pending_core> state_;
  finisher finish_;
  std::atomic<std::uint64_t> emptied_{0};
  std::optional<result<void>> answer_;  // written before answered_, without the lock, which may be held for long
  std::atomic<bool> answered_{false};
  bool finished_ = false;
};

}  // namespace troupe
