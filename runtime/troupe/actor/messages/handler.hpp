// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/ending/exit_reason.hpp>
#include <troupe/async/task.hpp>
#include <type_traits>

namespace troupe {

namespace detail {
template <class R>
struct reply_value : std::type_identity<std::remove_cvref_t<R>> {};
template <class T>
struct reply_value<result<T>> : reply_value<T> {};
template <class T>
struct reply_value<task<T>> : reply_value<T> {};

template <class R>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// The message whose handler is the `terminate` hook.
struct terminate_message {
  exit_reason reason;
};
template <class A, class M>
decltype(auto) dispatch(A& actor, M&& message) {
  return actor.handle(std::forward<M>(message));
}
template <class A>
decltype(auto) dispatch(A& actor, terminate_message&& message) {
  return actor.terminate(std::move(message.reason));
}
/// True if the class has a `terminate` member that can be called with an exit_reason.
template <class A>
concept has_terminate = requires(A& actor, exit_reason reason) { actor.terminate(std::move(reason)); };
template <class A>
concept has_other_terminate = !has_terminate<A> && (requires { &A::terminate; } || requires(A& a) { a.terminate(); });

template <class A, class M>
using handler_return = decltype(dispatch(std::declval<A&>(), std::declval<M>()));
}  // namespace detail

/// True if the actor class A has a handler for the message M.
template <class A, class M>
concept handles = requires(A& actor, std::remove_cvref_t<M> message) { actor.handle(std::move(message)); };

/// The type of the answer when an actor of class A is asked a message M: T if the handler returns T, `result<T>`,
/// `task<T>` or `task<result<T>>`.
template <class A, class M>
using reply_of = typename detail::reply_value<detail::handler_return<A, std::remove_cvref_t<M>>>::type;

namespace detail {

/// Runs a handler that is not a task. Sets `failed` if the error must end the actor.
template <class A, class M>
result<reply_of<A, M>> call_handler(A& actor, M& message, bool& failed) noexcept {
  using returned = handler_return<A, M>;
  try {
    if constexpr (std::is_void_v<returned>) {
      dispatch(actor, std::move(message));
      return {};
    } else if constexpr (is_result<returned>) {
      returned answer = dispatch(actor, std::move(message));
      failed = !answer && answer.error().reaction() == reaction::fatal;
      return answer;
    } else {
      return result<reply_of<A, M>>(dispatch(actor, std::move(message)));
    }
  } catch (...) {
    failed = true;
    return from_current_exception("actor");
  }
}

}  // namespace detail
}  // namespace troupe
