// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace troupe {

class executor;

/// One unit of work for an `executor`. Intrusive: the poster keeps it alive until `run` has been called, and
/// `run` may end its life.
struct job {
  void (*run)(job*) noexcept = nullptr;
  job* next = nullptr;       ///< for the holder of the job, such as an executor
  executor* home = nullptr;  ///< for the keeper of the job until it may be posted there
};

/// Where work runs. Derive from it to bring your own event loop.
/// A posted job must be run exactly once, on any thread, now or later: work that is lost is a pending never answered.
class executor {
 public:
  /// Thread safe. May run the job before it returns.
  virtual void post(job& work) noexcept = 0;

 protected:
  ~executor() = default;
};

/// Runs a job at once, on the thread that posts it. Has no state.
executor& inline_executor() noexcept;

/// Runs `f()` on the executor. Allocates one small block; an exception that leaves `f` ends the program.
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
