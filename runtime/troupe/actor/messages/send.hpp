// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/messages/task_call.hpp>

namespace troupe::detail {

/// True if A handles the message M in a task. Such a message is always sent in the envelope of an ask.
template <class A, class M>
inline constexpr bool handled_by_task = is_task<handler_return<A, M>>;
template <class A, class M>
using telling = std::conditional_t<handled_by_task<A, M>, task_call<A, M>, tell_call<A, M>>;
template <class A, class M>
using asking = std::conditional_t<handled_by_task<A, M>, task_call<A, M>, ask_call<A, M>>;

/// Sends a message to the actor, which may be null. Returns `refused(why)` if the message is refused.
template <class A, class M, class Refused>
accepted tell_to(actor_core* to, M&& message, Refused refused) {
  static_assert(handles<A, M>, "the actor class has no handle() for this message");
  using call = telling<A, std::remove_cvref_t<M>>;
  const refusal why = to ? to->push<call>(std::forward<M>(message)) : refusal::empty;
  return why == refusal::none ? accepted() : refused(why);
}
/// Does the same for an ask: if the message is refused, the pending is answered with the error of `refused(why)`.
template <class A, class M, class Refused>
auto ask_of(actor_core* to, M&& message, Refused refused) {
  static_assert(handles<A, M>, "the actor class has no handle() for this message");
  using call = asking<A, std::remove_cvref_t<M>>;
  using reply = reply_of<A, M>;
  auto state = ref<ask_state<reply>>::adopt(new ask_state<reply>);
  const refusal why = to ? to->push<call>(state, std::forward<M>(message)) : refusal::empty;
  if (why != refusal::none) state->complete(refused(why).error());
  return pending<reply>(std::move(state));
}

}  // namespace troupe::detail
