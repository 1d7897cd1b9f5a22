// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <troupe/async/answers/pending_state.hpp>
#include <troupe/async/cancellation.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/time_span.hpp>
#include <type_traits>

namespace troupe {

template <class T>
class pending;
template <class T>
class pending_awaiter;

namespace detail {
template <class T>
struct value_of : std::type_identity<T> {};
template <class T>
struct value_of<result<T>> : std::type_identity<T> {};
template <class T, class F>
using then_value = typename value_of<std::invoke_result_t<F&, result<T>>>::type;
}  // namespace detail

/// The consumer's side of an answer that arrives later. Move-only; not thread-safe.
///
/// Take the answer once, in one of three ways: block for it (`get`), attach a callback (`then`), or `co_await` it in
/// any coroutine. A pending may be ignored: destroying it detaches it. The work still runs to its end, and keeps alive
/// the objects that it needs.
template <class T>
class pending {
 public:
  using value_type = T;

  /// Makes an empty pending: taking its answer fails with `caller_bug`.
  pending() noexcept = default;
  explicit pending(ref<pending_state<T>> state) noexcept : state_(std::move(state)) {}
  pending(pending&&) noexcept = default;
  pending& operator=(pending o) noexcept {
    std::swap(state_, o.state_);
    std::swap(link_, o.link_);
    return *this;
  }

  bool valid() const noexcept { return static_cast<bool>(state_); }
  /// Returns true if taking the answer does not block.
  bool ready() const noexcept { return !state_ || state_->done(); }

  /// Blocks until the answer arrives. Fails with `caller_bug` if the answer was taken before.
  result<T> get() { return *get_until(no_deadline); }
  /// Returns nullopt if the answer does not arrive in time; the pending is then unchanged. A timeout of zero only
  /// polls.
  template <class Duration>
    requires requires { typename Duration::period; }
  std::optional<result<T>> get_for(Duration timeout) {
    return get_until(time_span(timeout).after(now_ns()));
  }
  /// Waits until a deadline in nanoseconds of the monotonic clock: see `now_ns`.
  std::optional<result<T>> get_until(std::int64_t deadline_ns) {
    if (state_ && !state_->wait(deadline_ns)) return std::nullopt;
    return take();
  }
  /// Waits until a deadline of `std::chrono::steady_clock`, which is the same clock.
  template <class TimePoint>
    requires(TimePoint::clock::is_steady)
  std::optional<result<T>> get_until(TimePoint deadline) {
    using period = typename TimePoint::period;
    static_assert(period::num == 1 && 1'000'000'000 % period::den == 0);
    return get_until(std::int64_t{deadline.time_since_epoch().count()} * (1'000'000'000 / period::den));
  }

  /// Returns the answer without blocking. Fails with `caller_bug` if it has not arrived.
  result<T> take() { return state_ ? state_->take() : detail::empty_pending(); }

  /// Calls `f(result<T>)` on the executor when the answer arrives. Without an executor, `f` runs on the thread that
  /// sets the answer or, if the answer is there already, on this thread before `then` returns: hold no lock that `f`
  /// takes. The value that `f` returns is the answer of the new pending (a `result<U>` is not wrapped again); an
  /// exception from `f` becomes a `fatal` error. Cancelling the new pending cancels this one.
  template <class F>
  pending<detail::then_value<T, std::decay_t<F>>> then(executor& where, F&& f) &&;
  template <class F>
  auto then(F&& f) && {
    return std::move(*this).then(inline_executor(), std::forward<F>(f));
  }

  /// Asks the producer to stop the work. An answer still arrives: an error, or the result if it was too late to cancel.
  void cancel() noexcept {
    if (const auto keep = state_) keep->cancel();  // cancel() can run a continuation that destroys this pending
  }
  /// Cancels when a stop is requested, while this pending, or one that `then` made of it, waits for the answer. May be
  /// called with several tokens: a stop of any of them cancels.
  pending cancel_on(std::stop_token token) && {
    if (state_ && !state_->done()) link_ = std::make_unique<cancel_link>(std::move(token), *state_, std::move(link_));
    return std::move(*this);
  }

  /// Discards the answer; the same as destroying the pending.
  void detach() && noexcept { *this = pending(); }

  /// Suspends any coroutine until the answer arrives, and returns a `result<T>`. The coroutine resumes on the thread
  /// that answers; a `task` resumes on its own executor.
  pending_awaiter<T> operator co_await() && noexcept { return pending_awaiter<T>(std::move(*this)); }
  pending_awaiter<T> operator co_await() & noexcept { return pending_awaiter<T>(pending(state_)); }

  /// Returns the state, for adapters that attach their own `job`. Null if the pending is empty.
  const ref<pending_state<T>>& state() const noexcept { return state_; }

 private:
  ref<pending_state<T>> state_;
  std::unique_ptr<cancel_link> link_;  // after `state_`, so that it is destroyed before the state it points to
};

/// The awaiter of a pending in any coroutine.
template <class T>
class pending_awaiter : private job {
 public:
  explicit pending_awaiter(pending<T> source) noexcept : job{.run = &resume}, source_(std::move(source)) {}
  bool await_ready() const noexcept { return source_.ready(); }
  bool await_suspend(std::coroutine_handle<> awaiting) noexcept {
    awaiting_ = awaiting;
    return source_.state()->attach(inline_executor(), *this) == attach_outcome::attached;
  }
  result<T> await_resume() { return source_.take(); }

 private:
  static void resume(job* self) noexcept { static_cast<pending_awaiter*>(self)->awaiting_.resume(); }

  pending<T> source_;
  std::coroutine_handle<> awaiting_;
};

/// Returns a pending that is answered already.
template <class T>
pending<T> make_ready(result<T> answer) {
  auto state = ref<pending_state<T>>::adopt(new pending_state<T>);
  state->complete(std::move(answer));
  return pending<T>(std::move(state));
}

}  // namespace troupe

#include <troupe/async/answers/then.hpp>
