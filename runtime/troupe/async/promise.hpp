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
    hook.close();  // first: a continuation that runs now may destroy the promise and with it this state
    return this->complete(std::move(r));
  }
};
}  // namespace detail

/// An answer that is owed: the producer's side of a `pending`. Move only.
/// A promise that is destroyed without an answer gives a `fatal` error that says where it was made, so that nobody
/// waits for ever.
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

  /// The consumer's side; once, later ones are empty.
  pending<T> get_pending() noexcept { return std::exchange(pending_, pending<T>()); }

  /// Answers. True for the first answer; later ones are refused. Thread safe. A continuation whose executor is inline
  /// runs before this returns.
  bool set(result<T> answer) noexcept { return state_ && state_->answer(std::move(answer)); }
  bool set() noexcept
    requires std::is_void_v<T>
  {
    return set(result<void>());
  }

  /// The consumer has cancelled: better answer soon, usually with `cancelled(what)`.
  bool cancel_requested() const noexcept { return state_ && state_->hook.requested(); }
  /// Calls `hook()` once if the consumer cancels, on its thread, at once if it did already; not when the promise was
  /// answered before. When both happen at the same time the hook may still be running after `set` has returned, and
  /// after the promise is gone: let it own what it touches. False when there is a hook already.
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
