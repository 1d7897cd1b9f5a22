// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <troupe/device/internal/transfer.hpp>
#include <troupe/memory/stream_copy.hpp>

namespace troupe {

bool transfer::advance() noexcept {
  std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard) return false;  // somebody is at it
  if (over_) return false;
  staging_header& h = header();
  // Read once; more than is possible counts as what is possible, so nothing is read that lies outside the staging
  // block.
  std::uint64_t i = emptied_.load(std::memory_order_relaxed);
  const std::uint64_t filled =
      std::min(h.filled.load(std::memory_order_acquire), std::min(i + plan_.chunks, plan_.count()));
  while (i < filled) {
    stream_copy(to_ + i * plan_.chunk_bytes, plan_.chunk(&h, i), plan_.size(i));
    emptied_.store(++i, std::memory_order_relaxed);
    h.step(h.emptied, i);
  }
  if (!answer_) return false;
  // A request that went well has filled every chunk before it was answered: this worker lies.
  if (*answer_ && i < plan_.count())
    answer_ = error(reaction::context_lost, "memory",
                    "download: the worker has filled " + std::to_string(i) + " of " + std::to_string(plan_.count()) +
                        " parts and says that it is done");
  over_ = true;
  return true;
}

void transfer::request_answered(const result<void>& answer) noexcept {
  const std::scoped_lock guard(lock_);
  answer_ = answer;
}

}  // namespace troupe
