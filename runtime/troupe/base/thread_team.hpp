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
#include <vector>

namespace troupe {

/// Threads that help a caller that has work in parts: the batches of blas, the blocks of a kernel. They start when they
/// are first needed, sleep while there is nothing to do, and serve all work that is shared at the same time in turn.
///
/// Each engine of the host has a team of its own. A plug-in keeps our libraries to itself, so that one team for the
/// process would have to go through the interface of engines; what it would save is threads that sleep. OpenBLAS has
/// threads of its own in any case: blas shares what OpenBLAS would do on one core, and nothing else.
class thread_team {
 public:
  /// Work in parts, which outlives its `share`.
  class work {
   public:
    virtual ~work() = default;
    /// Whether there are parts that nobody has taken.
    virtual bool is_open() const noexcept = 0;
    /// Takes parts until none is left. Called by several threads at once: `member` is 0 for the one that shares and the
    /// number of the helper else, so each member may keep what it works with.
    virtual void take_part(std::size_t member) noexcept = 0;

   private:
    friend class thread_team;
    std::size_t helpers_ = 0;  // inside; guarded by the team's mutex
    std::condition_variable left_;
  };

  /// `threads` in all, with the one that shares.
  explicit thread_team(std::size_t threads) noexcept : threads_(threads) {}
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;
  ~thread_team();

  std::size_t threads() const noexcept { return threads_; }

  /// Takes part, with as many helpers as come; returns when nobody works on it. May be called from several threads at
  /// once, and from a part of other work: the caller never waits for a helper to begin. Not from a fibre.
  void share(work& w);

  /// Calls `f(i)` for each i below `count`, `grain` of them at a stretch; returns when all are done, and throws what
  /// one of them threw.
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
    std::exception_ptr thrown;  // of the first; read when all have left
  };

  void start_helpers() noexcept;
  void help(std::size_t member);
  work* open_work() noexcept;

  const std::size_t threads_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<work*> shared_;
  std::size_t turn_ = 0;  // which work the next helper looks at first
  bool closing_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace troupe
