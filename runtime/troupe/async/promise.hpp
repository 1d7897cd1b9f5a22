// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>

namespace troupe {

namespace detail {
template <class T>
struct promise_state final : pending_state<T> {
  cancel_slot hook;
  void cancel() noexcept override { hook.request(); }
  bool answer(result<T> r) noexcept {
    hook.close();  // first, because a continuation that runs now can destroy the promise and this state
    return this->complete(std::move(r));
  }
};
}  // namespace detail

/// The producer's side of a `pending`. Move-only. A promise that is destroyed without an answer answers with a `fatal`
/// error that names the place where it was created, so that no consumer waits forever.
template <class T>
class promise {
 public:
  promise(const std::source_location& made = std::source_location::current())
      : state_(ref<state>::adopt(new state)), pending_(state_), made_(made) {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise o) noexcept {
    std::swap(state_, o.state_);
    std::swap(pending_, o.pending_);
    std::swap(made_, o.made_);
    return *this;
  }
  ~promise() {
    if (state_ && !state_->done()) state_->answer(detail::dropped_promise(made_));
  }

  /// Returns the consumer's side. Later calls return an empty pending.
  pending<T> get_pending() noexcept { return std::exchange(pending_, pending<T>()); }

  /// Sets the answer. Returns true for the first answer; later ones are ignored. Thread-safe. If the continuation's
  /// executor is inline, the continuation runs before `set` returns.
  bool set(result<T> answer) noexcept { return state_ && state_->answer(std::move(answer)); }
  bool set() noexcept
    requires std::is_void_v<T>
  {
    return set(result<void>());
  }

  /// Returns true if the consumer has cancelled. Set an answer soon then, usually `cancelled(what)`.
  bool cancel_requested() const noexcept { return state_ && state_->hook.requested(); }
  /// Calls `hook()` once if the consumer cancels before the promise is answered: on the consumer's thread, or at once
  /// if it has cancelled already. If both happen at the same time, the hook can still run after `set` has returned and
  /// after the promise is destroyed, so it must own what it uses. Returns false if a hook is installed already.
  template <class F>
  bool on_cancel(F&& hook) {
    struct call final : cancel_slot::hook {
      explicit call(F&& f) : function(std::forward<F>(f)) {}
      void run() noexcept override { function(); }
      std::decay_t<F> function;
    };
    return state_ && state_->hook.install(std::make_unique<call>(std::forward<F>(hook)));
  }

 private:
  using state = detail::promise_state<T>;
  ref<state> state_;
  pending<T> pending_;
  std::source_location made_;
};

}  // namespace troupe
