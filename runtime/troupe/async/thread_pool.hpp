// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/async/executor.hpp>

namespace troupe {

/// A pool of threads that run jobs in the order in which they were posted. Idle threads sleep.
class thread_pool final : public executor {
 public:
  /// Starts `threads` threads; for 0, one per usable core. Throws `std::system_error` if the system starts no thread.
  explicit thread_pool(int threads = 0);
  /// Calls `close`.
  ~thread_pool();

  /// Queues the job. Thread-safe. After `close`, the job runs on the calling thread: if it were lost, a pending would
  /// never be answered.
  void post(job& work) noexcept override;

  /// Runs all posted jobs, including those that they post, and joins the threads. A second call waits for the first.
  /// Must not be called from a job of this pool: the job would wait for itself.
  void close() noexcept;

  int size() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
