// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/transfer.hpp>
#include <troupe/memory/copying/stream_copy.hpp>

namespace troupe {

transfer::progress transfer::advance(copy_threads& helpers) noexcept {
  // Read before the counter: after the answer, the worker fills no more chunks.
  const bool answered = answered_.load(std::memory_order_seq_cst);
  // Limited to the chunks of a staging block, because the thread has answers to collect too.
  const std::uint64_t most = pieces_.pieces_of(plan_.chunks);
  for (std::uint64_t i = 0; i < most; ++i) {
    helpers.call_help(waiting_pieces());
    if (!copy_piece()) break;
  }
  if (answered) return finish();
  const std::scoped_lock guard(lock_);
  // Only this process may write `emptied`: with a wrong value, the worker would fill chunks that are not empty.
  const bool impossible = is_impossible(header().filled.load(std::memory_order_acquire)) ||
                          header().emptied.load(std::memory_order_relaxed) != pieces_.complete();
  return impossible ? progress::impossible : progress::waits;
}

// Waits for the pieces that other threads are copying, each for some microseconds.
transfer::progress transfer::finish() noexcept {
  std::unique_lock guard(lock_);
  if (finished_) return progress::waits;  // another call returns progress::finished
  finished_ = stops_ = true;
  all_put_.wait(guard, [this] { return pieces_.in_hand() == 0; });
  // A worker must fill every chunk before it reports success.
  if (*answer_ && pieces_.complete() < plan_.count())
    answer_ = error(reaction::context_lost, "memory",
                    cat("download: the worker reported success, but has filled ", pieces_.complete(), " of ",
                        plan_.count(), " chunks; download again"));
  return progress::finished;
}

// The caller holds lock_. The counter is read once and checked, so that nothing outside the staging block is read.
bool transfer::is_impossible(std::uint64_t filled) const noexcept {
  return filled < pieces_.begun() || filled > std::min(pieces_.complete() + plan_.chunks, plan_.count());
}

bool transfer::copy_piece() noexcept {
  std::optional<chunk_piece> piece;
  {
    const std::scoped_lock guard(lock_);
    const std::uint64_t filled = header().filled.load(std::memory_order_acquire);
    if (stops_ || is_impossible(filled)) return false;
    piece = pieces_.take(filled);
  }
  if (!piece) return false;
  stream_copy(to_ + piece->chunk * plan_.chunk_bytes + piece->offset,
              plan_.chunk(&header(), piece->chunk) + piece->offset, piece->bytes);
  const std::scoped_lock guard(lock_);
  const std::uint64_t before = pieces_.complete();
  pieces_.finish(*piece);
  if (pieces_.complete() != before) header().step(header().emptied, pieces_.complete());
  if (stops_ && pieces_.in_hand() == 0) all_put_.notify_all();
  return true;
}

void transfer::begin_again() noexcept {
  std::unique_lock guard(lock_);
  if (answered_.load(std::memory_order_seq_cst) || request_->done()) return;
  stops_ = true;
  all_put_.wait(guard, [this] { return pieces_.in_hand() == 0; });
  if (finished_) return;
  stops_ = false;
  pieces_.restart();
  std::construct_at(&header());
}

void transfer::request_answered(const result<void>& answer) noexcept {
  answer_ = answer;
  answered_.store(true, std::memory_order_seq_cst);
}

}  // namespace troupe
