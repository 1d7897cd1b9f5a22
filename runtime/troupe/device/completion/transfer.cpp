// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <troupe/base/cat.hpp>
#include <troupe/device/completion/transfer.hpp>
#include <troupe/memory/stream_copy.hpp>

namespace troupe {

transfer::progress transfer::advance(copy_threads& copies) noexcept {
  while (true) {
    {
      std::unique_lock guard(lock_, std::try_to_lock);
      if (!guard) return progress::waits;     // the thread that holds the lock checks answered_ after unlocking
      if (finished_) return progress::waits;  // another call has returned progress::finished
      // Read before the counter: an answered request fills no more chunks.
      const bool answered = answered_.load(std::memory_order_seq_cst);
      staging_header& h = header();
      // The counter is read once and checked, so that nothing outside the staging block is read.
      std::uint64_t i = emptied_.load(std::memory_order_relaxed);
      const std::uint64_t filled = h.filled.load(std::memory_order_acquire),
                          most = std::min(i + plan_.chunks, plan_.count());
      const bool lies = filled < i || filled > most;
      while (!lies && i < filled) {
        const std::uint64_t first = i;
        i += std::min<std::uint64_t>(filled - i, copies.most_parts());
        copies.run(i - first, [&](std::size_t part) {
          const std::uint64_t n = first + part;
          stream_copy(to_ + n * plan_.chunk_bytes, plan_.chunk(&h, n), plan_.size(n));
        });
        emptied_.store(i, std::memory_order_relaxed);
        h.step(h.emptied, i);
      }
      if (answered) {
        // A successful request fills every chunk before it is answered, so this worker has violated the protocol.
        if (*answer_ && i < plan_.count())
          answer_ =
              error(reaction::context_lost, "memory",
                    cat("download: the worker has filled ", i, " of ", plan_.count(), " chunks and reports success"));
        finished_ = true;
        return progress::finished;
      }
      if (lies) return progress::impossible;
    }
    if (!answered_.load(std::memory_order_seq_cst)) return progress::waits;
  }
}

void transfer::begin_again() noexcept {
  const std::scoped_lock guard(lock_);
  if (answered_.load(std::memory_order_seq_cst)) return;
  emptied_.store(0, std::memory_order_relaxed);
  std::construct_at(&header());
}

void transfer::request_answered(const result<void>& answer) noexcept {
  answer_ = answer;
  answered_.store(true, std::memory_order_seq_cst);
}

}  // namespace troupe
