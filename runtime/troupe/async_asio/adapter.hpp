// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <memory>
#include <troupe/async/pending.hpp>

// Needs standalone Asio, 1.22 or later.
namespace troupe {
namespace detail {

/// The operation that waits for a pending and then calls an Asio handler.
template <class T, class Handler, class Executor>
class asio_wait final : private job {
 public:
  static void begin(pending<T> source, Handler handler, const Executor& where) {
    auto* wait = new asio_wait(std::move(source), std::move(handler), where);
    auto slot = asio::get_associated_cancellation_slot(wait->handler_);
    if (slot.is_connected() && wait->source_.valid()) {
      slot.assign([state = wait->source_.state()](asio::cancellation_type) { state->cancel(); });
    }
    if (!wait->source_.valid() || wait->attach() != attach_outcome::attached) answered(wait);
  }

 private:
  asio_wait(pending<T> source, Handler handler, const Executor& where)
      : job{.run = &answered}, source_(std::move(source)), handler_(std::move(handler)), work_(where) {}

  attach_outcome attach() noexcept { return source_.state()->attach(inline_executor(), *this); }
  /// Posts the handler, always: it never runs inside the call that begins the wait, nor inside the one that cancels it.
  static void answered(job* self) noexcept {
    std::unique_ptr<asio_wait> me(static_cast<asio_wait*>(self));
    const Executor where = me->work_.get_executor();
    asio::post(where, [me = std::move(me)]() mutable { finish(std::move(me)); });
  }
  static void finish(std::unique_ptr<asio_wait> me) {
    if (auto slot = asio::get_associated_cancellation_slot(me->handler_); slot.is_connected()) slot.clear();
    result<T> answer = me->source_.take();
    Handler handler = std::move(me->handler_);
    const auto work = std::move(me->work_);
    me = nullptr;  // Asio requires that an operation's memory is freed before its handler runs
    std::move(handler)(std::move(answer));
  }

  pending<T> source_;
  Handler handler_;
  asio::executor_work_guard<Executor> work_;
};

}  // namespace detail

/// Waits for a pending as an Asio operation with any completion token (`use_awaitable`, `use_future`, a callback) and
/// the signature `void(result<T>)`. The handler runs on its associated executor, or on `where` if it has none. The wait
/// counts as outstanding work of that executor, so its context keeps running; the executor must outlive the answer.
/// Cancelling through the handler's cancellation slot cancels the pending.
template <class T, class Executor, class Token>
auto async_get(const Executor& where, pending<T> source, Token&& token) {
  return asio::async_initiate<Token, void(result<T>)>(
      []<class Handler>(Handler&& handler, pending<T> from, const Executor& otherwise) {
        const auto ex = asio::get_associated_executor(handler, otherwise);
        detail::asio_wait<T, std::decay_t<Handler>, std::decay_t<decltype(ex)>>::begin(
            std::move(from), std::forward<Handler>(handler), ex);
      },
      token, std::move(source), where);
}
/// Waits as above. A handler without an associated executor, such as a plain callback, runs on Asio's system executor.
template <class T, class Token>
auto async_get(pending<T> source, Token&& token) {
  return async_get(asio::system_executor(), std::move(source), std::forward<Token>(token));
}

}  // namespace troupe
