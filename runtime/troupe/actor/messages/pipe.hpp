// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/messages/send.hpp>

namespace troupe::detail {

/// A pending whose answer becomes a message to the actor.
template <class A, class T, class F>
class piped_call final : public envelope, private job {
  using message = std::remove_cvref_t<std::invoke_result_t<F&, result<T>>>;
  static_assert(handles<A, message>, "the actor class has no handle() for the type that the function returns");

  static constexpr bool by_task = handled_by_task<A, message>;
  using reply_state = ask_state<reply_of<A, message>>;
  using reply_ref = std::conditional_t<by_task, ref<reply_state>, std::nullptr_t>;
  static reply_ref make_reply() {
    if constexpr (by_task) {
      return reply_ref::adopt(new reply_state);
    } else {
      return nullptr;
    }
  }

 public:
  piped_call(actor_core& to, pending<T> source, F f)
      : job{.run = &answered},
        core_(ref<actor_core>::share(&to)),
        source_(std::move(source)),
        function_(std::move(f)) {}

  static void begin(std::unique_ptr<piped_call> call) {
    auto carrier = std::make_unique<system_message>();
    piped_call& self = *call;
    carrier->content = std::move(call);
    self.carrier_ = carrier.release();
    const ref<pending_core> source = self.source_.state();
    const ref<actor_core> core = self.core_;
    if (!source || source->attach(inline_executor(), self) != attach_outcome::attached) return answered(&self);
    core->watchers().cancel_at_end(source);
  }

  handled deliver(actor_core& to) noexcept override {
    std::optional<error> why;
    try {
      message m = function_(source_.get());
      if constexpr (by_task) {
        inner_ = std::make_unique<task_call<A, message>>(reply_, std::move(m));
      } else {
        inner_ = std::make_unique<tell_call<A, message>>(std::move(m));
      }
    } catch (...) {
      why = from_current_exception("actor");
    }
    if (inner_) return inner_->deliver(to);
    if (!to.handler_ended()) return handled::lost;
    to.leave(exit_kind::crashed, &*why);
    to.release_message();
    return handled::ended;
  }
  void abandon(const error&) noexcept override {
    if constexpr (by_task) reply_->cancel();  // `inner_` may be under construction by the handler's thread
  }

 private:
  static void answered(job* self) noexcept {
    auto* const me = static_cast<piped_call*>(self);
    const ref<actor_core> core = me->core_;
    core->push_system(std::unique_ptr<system_message>(me->carrier_));
  }

  const ref<actor_core> core_;
  pending<T> source_;
  F function_;
  reply_ref reply_ = make_reply();
  system_message* carrier_ = nullptr;  // owns this call; allocated in advance
  std::unique_ptr<envelope> inner_;
};

template <class A, class T, class F>
void pipe_to(actor_core& to, pending<T> source, F f) {
  using call = piped_call<A, T, F>;
  call::begin(std::make_unique<call>(to, std::move(source), std::move(f)));
}

}  // namespace troupe::detail
