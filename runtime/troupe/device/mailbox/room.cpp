// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The answers of room(), which wait without blocking, and the cancellation of all requests of a scope.
#include <cerrno>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/completion/start_deadlines.hpp>
#include <troupe/device/mailbox/request_mailbox.hpp>
#include <troupe/device/mailbox/request_scope.hpp>
#include <troupe/device/waiting/reactor_link.hpp>

namespace troupe {

void room_answer::cancel() noexcept { mailbox.cancel_room(*this); }

pending<void> request_mailbox::room(std::uint32_t requests, const std::shared_ptr<request_scope>& scope,
                                    const std::shared_ptr<device_core>& device) {
  if (requests < 1 || requests > requests_.capacity())
    return make_ready<void>(error(
        reaction::caller_bug, "device",
        cat("room: requests is ", requests, "; expected 1 to ", requests_.capacity(), ", the mailbox's capacity")));
  if (admission_.refusing()) return make_ready<void>(admission_.refusal());
  if (scope != nullptr)
    if (auto why = scope->refusal(loop_.now())) return make_ready<void>(std::move(*why));
  if (requests_.has_free(requests)) return make_ready<void>({});
  auto answer = ref<room_answer>::adopt(new room_answer(device, *this, requests, scope));
  room_.answers().add(answer);
  // From now on, a thread that retires requests or stops the scope finds the answer. Check what happened before.
  if (scope != nullptr && scope->deadline_ns() != no_deadline) start_deadlines_.watch(scope->deadline_ns());
  if (scope != nullptr && scope->stopped()) stop_requests_of(scope);
  completion_.drive();
  return pending<void>(std::move(answer));
}

void request_mailbox::cancel_room(const room_answer& answer) noexcept {
  room_.answers().fail_if(
      answering(to_reactor_), [&](const room_answer& a) { return &a == &answer; },
      error::retry_later("device", ECANCELED, "room: cancelled before there was room"));
  // There may be room for the call after it.
  if (room_.has_answers() && !deferred_continuations::active()) completion_.drive();
}

void request_mailbox::stop_requests_of(const std::shared_ptr<request_scope>& scope) noexcept {
  loop_.post([this, scope] {
    completion_.cancel_if([&](const ledger_entry& e) { return e.scope == scope; },
                          {request_scope::stopped_text, reaction::retry_later, ECANCELED});
    room_.answers().fail_if(
        answering(to_reactor_), [&](const room_answer& a) { return a.scope == scope; },
        error::retry_later("device", ECANCELED, request_scope::stopped_text));
    channel_.wake_waiters();  // some threads may wait for room
  });
}

}  // namespace troupe
