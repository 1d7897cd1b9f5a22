// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <troupe/async/answers/pending_state.hpp>
#include <troupe/async/executor.hpp>
#include <troupe/memory/copying/chunk_pieces.hpp>
#include <troupe/memory/copying/copy_threads.hpp>
#include <troupe/memory/copying/staging.hpp>
#include <troupe/request/block.hpp>

namespace troupe {

/// A download in flight into ordinary memory. The worker fills chunks of a staging block; driving threads and their
/// helpers empty them at the same time, piece by piece. The caller is answered when the request is answered and the
/// last byte has been copied.
class transfer final : public shared_copy {
 public:
  /// The caller's pending, and the function that completes it.
  struct caller {
    ref<pending_core> state;
    void (*finish)(pending_core& state, const error* why) noexcept;
  };

  /// `staging` holds the header and the chunks, `request` is the pending of the worker's request. Precondition: the
  /// device has checked `plan`.
  transfer(block_ref staging, const staging_plan& plan, std::uint64_t piece_bytes, std::byte* to,
           ref<pending_core> request, caller to_answer) noexcept
      : staging_(std::move(staging)),
        plan_(plan),
        to_(to),
        request_(std::move(request)),
        caller_(std::move(to_answer)),
        pieces_(plan, piece_bytes) {}

  /// The request's ticket. Must be set before `request_answered`.
  std::uint64_t ticket = 0;

  enum class progress : std::uint8_t {
    waits,       ///< nothing can be copied now
    finished,    ///< the caller must be answered; returned by one call only
    impossible,  ///< the worker's counter has an impossible value
  };
  /// Copies the filled chunks, together with `helpers`.
  progress advance(copy_threads& helpers) noexcept;
  /// Restarts the transfer for another worker that will run the request. Discards the previous worker's counts.
  void begin_again() noexcept;
  void answer_caller() noexcept { caller_.finish(*caller_.state, *answer_ ? nullptr : &answer_->error()); }
  /// Notes the answer of the worker's request.
  void request_answered(const result<void>& answer) noexcept;

  bool copy_piece() noexcept override;
  /// Returns true if pieces wait, or if the worker's counter is impossible.
  bool has_news() const noexcept {
    return pieces_.pieces_of(header().filled.load(std::memory_order_relaxed)) != pieces_.next();
  }
  /// Returns 0 if the worker's counter is impossible, because then no thread can take a piece.
  std::size_t waiting_pieces() const noexcept override {
    const std::uint64_t filled = header().filled.load(std::memory_order_relaxed), next = pieces_.next(),
                        there = filled <= plan_.count() ? pieces_.pieces_of(filled) : 0;
    return there > next ? there - next : 0;
  }

 private:
  staging_header& header() const noexcept { return *reinterpret_cast<staging_header*>(staging_->host); }
  bool is_impossible(std::uint64_t filled) const noexcept;
  progress finish() noexcept;

  std::mutex lock_;  // not held while a piece is copied
  std::condition_variable all_put_;
  block_ref staging_;
  const staging_plan plan_;
  std::byte* to_;
  ref<pending_core> request_;
  caller caller_;
  chunk_pieces pieces_;
  std::optional<result<void>> answer_;  // written before answered_, without lock_
  std::atomic<bool> answered_{false};
  bool stops_ = false;  // true: no further piece is taken
  bool finished_ = false;
};

}  // namespace troupe
