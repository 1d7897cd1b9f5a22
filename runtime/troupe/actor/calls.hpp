// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/actor_core.hpp>
#include <troupe/actor/ask_state.hpp>
#include <troupe/actor/handler.hpp>

// Typed messages in an actor's mailbox.
namespace troupe::detail {

template <class A>
A& body_of(const actor_core& core) noexcept {
  return *static_cast<A*>(core.body());
}

/// A message nobody waits for.
template <class A, class M>
class tell_call final : public envelope {
 public:
  template <class U>
  explicit tell_call(U&& message) : message_(std::forward<U>(message)) {}

  handled deliver(actor_core& to) noexcept override {
    bool failed = false;
    const auto answer = call_handler(body_of<A>(to), message_, failed);
    if (!to.handler_ended()) return handled::lost;
    if (failed) to.crash(answer.error());
    to.release_message();
    return handled::ended;
  }

 private:
  M message_;
};

/// What asks have in common. The message's place is free before its answer is given, so that who was answered can send
/// again; and who was told of a crash finds the mailbox closed.
template <class T>
class answered_call : public envelope {
 public:
  explicit answered_call(ref<ask_state<T>> reply) noexcept : reply_(std::move(reply)) {}

  void refuse(const error& why) noexcept override { reply_->complete(why); }
  void abandon(const error& why) noexcept override {
    reply_->complete(why);
    reply_->cancel();
  }

 protected:
  /// Destroys the call.
  handled settle(actor_core& to, result<T> answer, bool failed) noexcept {
    if (!to.handler_ended()) return handled::lost;
    const auto reply = std::move(reply_);
    if (failed) to.crash(answer.error());
    to.release_message();
    reply->complete(std::move(answer));
    return handled::ended;
  }
  handled drop_cancelled(actor_core& to) noexcept {
    if (!to.handler_ended()) return handled::lost;
    to.release_message();
    return handled::ended;
  }

  ref<ask_state<T>> reply_;
};

template <class A, class M>
class ask_call final : public answered_call<reply_of<A, M>> {
  using reply = reply_of<A, M>;

 public:
  template <class U>
  ask_call(ref<ask_state<reply>> to, U&& message)
      : answered_call<reply>(std::move(to)), message_(std::forward<U>(message)) {}

  handled deliver(actor_core& to) noexcept override {
    if (!this->reply_->begin()) return this->drop_cancelled(to);
    bool failed = false;
    result<reply> answer = call_handler(body_of<A>(to), message_, failed);
    return this->settle(to, std::move(answer), failed);
  }

 private:
  M message_;
};

/// A message whose handler is a task. The message lives, and the actor handles no other, until the task has ended.
template <class A, class M>
class task_call final : public answered_call<reply_of<A, M>>, private job {
  using reply = reply_of<A, M>;
  using returned = typename handler_return<A, M>::value_type;
  using state = started_task<returned>;

 public:
  /// Told: nobody reads the answer.
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
      auto running = ref<state>::adopt(new state(to.where(), dispatch(body_of<A>(to), std::move(message_))));
      this->reply_->forward_cancel_to(running);  // first: a kill may come while the task runs on this thread
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
    if (me->finish() == handled::ended) core.go_on();
  }
  handled finish() noexcept {
    result<reply> answer = running_.get();
    // Of a task of another type than result every error was an exception.
    const bool failed = !answer && (!is_result<returned> || answer.error().reaction() == reaction::fatal);
    return this->settle(*core_, std::move(answer), failed);
  }

  M message_;
  actor_core* core_ = nullptr;
  pending<reply> running_;
};

/// How an M is told to an A, and asked. A task is always an ask, if need be one whose answer nobody reads.
template <class A, class M>
inline constexpr bool handled_by_task = is_task<handler_return<A, M>>;
template <class A, class M>
using telling = std::conditional_t<handled_by_task<A, M>, task_call<A, M>, tell_call<A, M>>;
template <class A, class M>
using asking = std::conditional_t<handled_by_task<A, M>, task_call<A, M>, ask_call<A, M>>;

/// Sends a message to the actor, if there is one; `refused` makes what is returned when it is not taken.
template <class A, class M, class Refused>
accepted tell_to(actor_core* to, M&& message, Refused refused) {
  static_assert(handles<A, M>, "the actor class has no handle() for this message");
  using call = telling<A, std::remove_cvref_t<M>>;
  const refusal why = to ? to->push<call>(std::forward<M>(message)) : refusal::empty;
  return why == refusal::none ? accepted() : refused(why);
}
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
