// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/async/executor.hpp>

namespace troupe {

/// Threads that take jobs first in, first out. Idle threads use no CPU.
class thread_pool final : public executor {
 public:
  /// As many threads as usable cores for 0. Throws `std::system_error` when the system gives no thread at all.
  explicit thread_pool(int threads = 0);
  /// Closes.
  ~thread_pool();

  /// Thread safe. After `close` the job runs on the calling thread, because work that is lost is a pending never
  /// answered.
  void post(job& work) noexcept override;

  /// Runs everything that was posted, jobs that these post included, and joins the threads. A second call waits for
  /// the first. Not from a job of this pool, which cannot wait for itself.
  void close() noexcept;

  int size() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace troupe
