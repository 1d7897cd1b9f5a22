// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actor/core/actor_core.hpp>
#include <troupe/actor/messages/handler.hpp>
#include <troupe/async/answers/pending_state.hpp>
#include <troupe/async/cancellation.hpp>

// The messages in an actor's mailbox whose handlers are ordinary functions. For handlers that are tasks, see
// task_call.hpp.
namespace troupe::detail {

/// The answer of an ask. Cancelling it before the handler has begun answers it at once, and the handler never runs.
/// After that, a handler that is a task is asked to stop; other handlers are not affected.
template <class T>
class ask_state final : public pending_state<T> {
 public:
  /// Called before the handler runs. Returns false if the ask was cancelled.
  bool begin() noexcept {
    auto seen = progress::queued;
    return progress_.compare_exchange_strong(seen, progress::begun);
  }
  void forward_cancel_to(ref<pending_core> running) {
    struct forward final : cancel_slot::hook {
      explicit forward(ref<pending_core> to) noexcept : running(std::move(to)) {}
      void run() noexcept override { running->cancel(); }
      ref<pending_core> running;
    };
    hook_.install(std::make_unique<forward>(std::move(running)));
  }
  void cancel() noexcept override {
    auto seen = progress::queued;
    if (progress_.compare_exchange_strong(seen, progress::cancelled)) {
      this->complete(cancelled("the ask"));
    } else if (seen == progress::begun) {
      hook_.request();
    }
  }

 private:
  enum class progress : std::uint8_t { queued, begun, cancelled };
  std::atomic<progress> progress_{progress::queued};
  cancel_slot hook_;
};

template <class A>
A& object_of(const actor_core& core) noexcept {
  return *static_cast<A*>(core.object());
}

/// A message without an answer.
template <class A, class M>
class tell_call final : public envelope {
 public:
  template <class U>
  explicit tell_call(U&& message) : message_(std::forward<U>(message)) {}

  handled deliver(actor_core& to) noexcept override {
    bool failed = false;
    const auto answer = call_handler(object_of<A>(to), message_, failed);
    if (!to.handler_ended()) return handled::lost;
    if (failed) to.leave(exit_kind::crashed, &answer.error());
    to.release_message();
    return handled::ended;
  }

 private:
  M message_;
};

/// The common base of asks. Frees a message's place in the mailbox before it sets the answer, so a caller that has the
/// answer can send again. The mailbox is closed before a crash is answered, so a caller that has the error finds it
/// closed.
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
  /// Ends the handler and sets the answer. Destroys the call.
  handled settle(actor_core& to, result<T> answer, bool failed) noexcept {
    if (!to.handler_ended()) return handled::lost;
    const auto reply = std::move(reply_);
    if (failed) to.leave(exit_kind::crashed, &answer.error());
    to.release_message();
    reply->complete(std::move(answer));
    return handled::ended;
  }
  /// Ends without running the handler, because the ask was cancelled. Destroys the call.
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
    result<reply> answer = call_handler(object_of<A>(to), message_, failed);
    return this->settle(to, std::move(answer), failed);
  }

 private:
  M message_;
};

}  // namespace troupe::detail
