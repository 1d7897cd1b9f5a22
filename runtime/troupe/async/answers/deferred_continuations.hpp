// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/executor.hpp>
#include <utility>

namespace troupe {

/// Keeps the continuations of answers that are set on this thread, instead of posting them, as long as this object
/// lives. For a thread that sets answers while it holds a lock, or that sets several at a time: a continuation can
/// block and wait for another answer.
class deferred_continuations {
 public:
  deferred_continuations() noexcept : outer_(std::exchange(innermost_, this)) {}
  ~deferred_continuations() { innermost_ = outer_; }
  deferred_continuations(const deferred_continuations&) = delete;

  /// Returns the kept continuations, in order and linked by `next`. The caller must post each to its `home`.
  job* take() noexcept { return std::exchange(first_, nullptr); }

  /// Returns true if an object of this class lives on this thread.
  static bool active() noexcept { return innermost_ != nullptr; }
  /// Posts the job to its `home`, or keeps it if an object of this class lives on this thread.
  static void post(job& continuation) noexcept;

 private:
  deferred_continuations* outer_;
  job *first_ = nullptr, *last_ = nullptr;
  static thread_local constinit deferred_continuations* innermost_;
};

/// Returns an executor that runs each job at once, even while continuations are kept. For jobs that are short and never
/// block.
executor& immediate_executor() noexcept;

/// Returns an executor that runs each job at once, unless continuations are kept: then it keeps the job. For user code
/// that runs as a side effect of another call.
executor& keeping_executor() noexcept;

/// Posts each job of a list from `take` to its `home`.
void post_all(job* first) noexcept;

}  // namespace troupe
