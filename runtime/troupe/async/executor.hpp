// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace troupe {

class executor;

/// A unit of work for an `executor`. Intrusive: the caller of `post` keeps it alive until `run` is called, and `run`
/// may destroy it.
struct job {
  void (*run)(job*) noexcept = nullptr;
  job* next = nullptr;       ///< for the queue that holds the job, such as that of an executor
  executor* home = nullptr;  ///< where a kept job is posted later: see `deferred_continuations`
};

/// Runs jobs. Derive from it to use your own event loop. An executor must run each posted job exactly once, on any
/// thread, at once or later: if it loses a job, a pending is never answered.
class executor {
 public:
  /// Thread-safe. May run the job before it returns.
  virtual void post(job& work) noexcept = 0;

 protected:
  ~executor() = default;
};

/// Returns the executor that runs a job at once, on the thread that posts it.
executor& inline_executor() noexcept;

/// Runs `f()` on the executor. Allocates one small block. An exception from `f` terminates the program.
template <class F>
void post(executor& where, F&& f) {
  struct call : job {
    explicit call(F&& g) : job{.run = &invoke}, function(std::forward<F>(g)) {}
    static void invoke(job* self) noexcept {
      call* c = static_cast<call*>(self);
      std::decay_t<F> function = std::move(c->function);
      delete c;
      function();
    }
    std::decay_t<F> function;
  };
  where.post(*new call(std::forward<F>(f)));
}

}  // namespace troupe
