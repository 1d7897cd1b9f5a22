// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Room in the mailbox, for those who must not block until there is some.
#include <troupe/base/cat.hpp>
#include <troupe/device/internal/core.hpp>
#include <troupe/device/internal/request_scope.hpp>

namespace troupe {

void room_answer::cancel() noexcept { link.core->cancel_room(*this); }

pending<void> device_core::room(std::uint32_t requests, const std::shared_ptr<request_scope>& scope) {
  if (requests < 1 || requests > ledger_.capacity())
    return make_ready<void>(
        error(reaction::caller_bug, "device",
              cat("room: requests is ", requests, "; expected 1 to ", ledger_.capacity(), ", the mailbox's capacity")));
  if (refusing_.load(std::memory_order_acquire)) return make_ready<void>(refusal());
  if (scope != nullptr)
    if (auto why = scope->refusal(loop_->now())) return make_ready<void>(std::move(*why));
  if (ledger_.has_free(requests)) return make_ready<void>({});
  auto answer = ref<room_answer>::adopt(new room_answer(shared_from_this(), requests, scope));
  room_.add(answer);
  // A thread that retires requests or stops the scope from now on sees the answer; look for what happened before.
  if (scope != nullptr && scope->deadline_ns() != no_deadline) watch_deadline(scope->deadline_ns());
  if (scope != nullptr && scope->stopped()) stop_requests_of(scope);
  drive();
  return pending<void>(std::move(answer));
}

// With drive_lock_ held, as for every answer to several.
void device_core::answer_room() {
  if (!refusing_.load(std::memory_order_seq_cst)) return room_.serve(ledger_);
  room_.give_up([](const room_answer&) { return true; }, refusal());
}

void device_core::cancel_room(const room_answer& answer) noexcept {
  const answering now(*this);
  room_.give_up([&](const room_answer& a) { return &a == &answer; },
                error(reaction::retry_later, "device", "room: cancelled before there was any"));
}

}  // namespace troupe
