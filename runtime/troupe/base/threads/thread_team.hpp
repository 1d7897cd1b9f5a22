// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <troupe/base/threads/helper_places.hpp>
#include <vector>

namespace troupe {

/// Threads that help a caller with work that consists of parts, such as the batches of blas or the blocks of a kernel.
/// They start when they are first needed, sleep while idle, and serve works that are shared at the same time in turn.
///
/// Each host engine has its own team: plug-ins do not share our libraries, so one team for the process would have to be
/// passed through the engine interface, and would save only sleeping threads. OpenBLAS has its own threads; blas shares
/// only work that OpenBLAS would do on one core.
class thread_team {
 public:
  /// Work that consists of parts. It must outlive the call of `share`.
  class work {
   public:
    virtual ~work() = default;
    /// Returns true if there are parts that no thread has taken.
    virtual bool is_open() const noexcept = 0;
    /// Takes and does parts until none is left. Several threads call it at once. `member` is 0 for the thread that
    /// called `share`, otherwise the number of the helper, so that each can have its own scratch data.
    virtual void take_part(std::size_t member) noexcept = 0;

   private:
    friend class thread_team;
    std::size_t helpers_ = 0;  // helpers inside `take_part`; guarded by the team's mutex
    std::condition_variable left_;
  };

  /// `threads` is the total, including the thread that calls `share`.
  explicit thread_team(std::size_t threads) noexcept : threads_(threads) {}
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;
  ~thread_team();

  std::size_t threads() const noexcept { return threads_; }

  /// Does the work together with the helpers that are free; returns when no thread works on it. Thread-safe. May be
  /// called from a part of other work, because the caller never waits for a helper to begin. Must not be called from a
  /// fiber.
  void share(work& w);

  /// Calls `f(i)` for each i below `count`; a thread takes `grain` consecutive ones at a time. Returns when all calls
  /// are done. If a call throws, the calls that have not begun are skipped and one of the exceptions is rethrown.
  template <class F>
  void spread(std::int64_t count, std::int64_t grain, F&& f) {
    stretches<F> all(count, grain, f);
    if (threads_ > 1 && count > grain)
      share(all);
    else
      all.take_part(0);
    if (all.thrown) std::rethrow_exception(all.thrown);
  }

 private:
  template <class F>
  struct stretches final : work {
    stretches(std::int64_t n, std::int64_t g, F& call) noexcept : count(n), grain(g), f(call) {}
    bool is_open() const noexcept override { return next.load(std::memory_order_relaxed) < count; }
    void take_part(std::size_t) noexcept override {
      try {
        for (std::int64_t first; (first = next.fetch_add(grain)) < count;)
          for (std::int64_t i = first; i < first + grain && i < count; ++i) f(i);
      } catch (...) {
        if (!has_thrown.exchange(true)) thrown = std::current_exception();
        next = count;
      }
    }
    const std::int64_t count, grain;
    F& f;
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> has_thrown{false};
    std::exception_ptr thrown;  // the first exception; read when all threads have left
  };

  void start_helpers() noexcept;
  void place_helpers() noexcept;
  void help(std::size_t member);
  work* open_work() noexcept;

  const std::size_t threads_;
  std::mutex mutex_;
  std::condition_variable changed_;  // notified when work is shared and when the team closes
  std::vector<work*> shared_;
  std::size_t turn_ = 0;  // index of the work at which the next helper begins its search
  bool closing_ = false;
  std::vector<std::thread> helpers_;
  std::vector<pid_t> ids_;  // identifiers of the helpers that have begun
  helper_places places_;
};

}  // namespace troupe
