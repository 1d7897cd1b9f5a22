// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe::blas {

/// Threads that take parts of a batch of small problems, which OpenBLAS would run on one core. They start when first
/// needed.
class workers {
 public:
  /// `threads` in all, with the one that asks.
  explicit workers(unsigned threads) noexcept : threads_(threads) {}
  workers(const workers&) = delete;
  ~workers();

  /// Calls `f(i)` for each i below `count`, `grain` of them at a stretch; returns when all are done, and throws what
  /// one of them threw. May be called from several threads at once.
  template <class F>
  void spread(std::int64_t count, std::int64_t grain, F&& f) {
    job j{.call = [](void* self, std::int64_t i) { (*static_cast<std::remove_reference_t<F>*>(self))(i); },
          .self = const_cast<void*>(static_cast<const void*>(&f)),
          .count = count,
          .grain = grain};
    run(j);
  }

 private:
  struct job {
    void (*call)(void*, std::int64_t);
    void* self;
    std::int64_t count, grain;
    std::atomic<std::int64_t> next{0};
    std::size_t helpers = 0;  ///< inside; guarded by mutex_
    std::exception_ptr thrown{};
  };

  void run(job& j);
  void start_helpers() noexcept;
  void take_part(job& j);
  void help();
  job* open_job() const noexcept;

  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable news_, left_;
  std::vector<job*> jobs_;
  std::vector<std::thread> helpers_;
  bool closing_ = false;
};

}  // namespace troupe::blas
