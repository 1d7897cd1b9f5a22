// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/async/executor.hpp>

namespace troupe {

/// Threads that run jobs first in, first out. Idle threads sleep.
class thread_pool final : public executor {
 public:
  /// Starts `threads` threads; for 0, one per usable core. Throws `std::system_error` if the system starts no thread at
  /// all.
  explicit thread_pool(int threads = 0);
  /// Closes.
  ~thread_pool();

  /// Thread-safe. After `close` the job runs on the calling thread: if it were lost, a pending would never be answered.
  void post(job& work) noexcept override;

  /// Runs all posted jobs, including jobs that they post, and joins the threads. A second call waits for the first.
  /// Must not be called from a job of this pool, which cannot wait for itself.
  void close() noexcept;

  int size() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
