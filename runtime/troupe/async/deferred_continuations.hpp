// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/executor.hpp>
#include <utility>

namespace troupe {

/// While one lives, the continuations of answers given on its thread are kept instead of posted. For a thread that
/// answers with a lock held, or several at a time: each may block, and ask for any other answer.
class deferred_continuations {
 public:
  deferred_continuations() noexcept : outer_(std::exchange(innermost_, this)) {}
  ~deferred_continuations() { innermost_ = outer_; }
  deferred_continuations(const deferred_continuations&) = delete;

  /// What was kept, linked by `next`, in order. To be taken, and posted each to its `home`.
  job* take() noexcept { return std::exchange(first_, nullptr); }

  /// Does one live on this thread?
  static bool active() noexcept { return innermost_ != nullptr; }
  /// Posts the job to its `home`, or keeps it.
  static void post(job& continuation) noexcept;

 private:
  deferred_continuations* outer_;
  job *first_ = nullptr, *last_ = nullptr;
  static thread_local constinit deferred_continuations* innermost_;
};

/// An executor that runs a job at once even where continuations are kept. For what is short and never blocks.
executor& immediate_executor() noexcept;

/// An executor that runs a job at once, or, where continuations are kept, keeps it with them. For code of the user's
/// that something else brings about.
executor& keeping_executor() noexcept;

/// Posts a list that `take` has given.
void post_all(job* first) noexcept;

}  // namespace troupe
