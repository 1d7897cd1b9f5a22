// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/messages/calls.hpp>

namespace troupe::detail {

/// A message whose handler is a task. Until the task has ended, the message lives and the actor handles no other
/// message.
template <class A, class M>
class task_call final : public answered_call<reply_of<A, M>>, private job {
  using reply = reply_of<A, M>;
  using returned = typename handler_return<A, M>::value_type;
  using state = started_task<returned>;

 public:
  /// Makes the call for a tell: an ask whose answer nobody reads.
  template <class U>
  explicit task_call(U&& message)
      : task_call(ref<ask_state<reply>>::adopt(new ask_state<reply>), std::forward<U>(message)) {}
  template <class U>
  task_call(ref<ask_state<reply>> to, U&& message)
      : answered_call<reply>(std::move(to)), job{.run = &task_ended}, message_(std::forward<U>(message)) {}

  handled deliver(actor_core& to) noexcept override {
    if (!this->reply_->begin()) return this->drop_cancelled(to);
    core_ = &to;
    try {
      auto running = ref<state>::adopt(new state(to.where(), dispatch(object_of<A>(to), std::move(message_))));
      this->reply_->forward_cancel_to(running);  // first, because a kill can come while the task runs on this thread
      running->start({});
      running_ = pending<reply>(std::move(running));
    } catch (...) {
      return this->settle(to, from_current_exception("actor"), true);
    }
    if (running_.state()->attach(to.where(), *this) == attach_outcome::attached) return handled::suspended;
    return finish();
  }

 private:
  static void task_ended(job* self) noexcept {
    auto* const me = static_cast<task_call*>(self);
    actor_core& core = *me->core_;
    if (me->finish() == handled::ended) core.take_turn();
  }
  handled finish() noexcept {
    result<reply> answer = running_.get();
    // If the task does not return a result, every error of it was an exception.
    const bool failed = !answer && (!is_result<returned> || answer.error().reaction() == reaction::fatal);
    return this->settle(*core_, std::move(answer), failed);
  }

  M message_;
  actor_core* core_ = nullptr;
  pending<reply> running_;
};

}  // namespace troupe::detail
