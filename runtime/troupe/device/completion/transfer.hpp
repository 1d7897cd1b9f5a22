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

/// A download of ordinary memory on its way: the worker fills chunks of a staging block, the thread that drives the
/// device empties them. Answers the caller when the request is answered and the last byte has been copied.
class transfer {
 public:
  using finisher = void (*)(pending_core& state, const error* why) noexcept;

  /// `staging` holds the header and the chunks; `plan` was checked by the device.
  transfer(block_ref staging, staging_plan plan, std::byte* to, ref<pending_core> state, finisher finish) noexcept
      : staging_(std::move(staging)), plan_(plan), to_(to), state_(std::move(state)), finish_(finish) {}

  /// Its request's place in the mailbox. Set before anybody calls `advance`.
  std::uint64_t ticket = 0;

  enum class progress : std::uint8_t {
    waits,       ///< nothing to do now
    over,        ///< nothing left to do but `tell`; for one call
    impossible,  ///< the worker's counter says what cannot be
  };
  /// Copies what is there.
  progress advance(copy_threads& copies) noexcept;
  /// Its request will be run by another worker, which has not begun: what this one has counted was not true.
  void begin_again() noexcept;
  /// Answers the caller.
  void tell() noexcept { finish_(*state_, *answer_ ? nullptr : &answer_->error()); }
  /// Is there anything for `advance`? A hint, without the lock.
  bool has_data() const noexcept {
    return header().filled.load(std::memory_order_relaxed) != emptied_.load(std::memory_order_relaxed);
  }
  /// The request's own answer.
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
  std::optional<result<void>> answer_;  // written before `answered_`, without the lock, which may be held for long
  std::atomic<bool> answered_{false};
  bool over_ = false;
};

}  // namespace troupe
