// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Room in the mailbox, for those who must not block until there is some.
#include <algorithm>
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
  {
    const std::scoped_lock guard(room_lock_);
    room_.push_back(answer);
    room_wanted_.store(true, std::memory_order_seq_cst);
  }
  // A thread that retires requests or stops the scope from now on sees the answer; look for what happened before.
  if (scope != nullptr && scope->deadline_ns() != no_deadline) watch_deadline(scope->deadline_ns());
  if (scope != nullptr && scope->stopped()) stop_requests_of(scope);
  drive();
  return pending<void>(std::move(answer));
}

// With drive_lock_ held, as for every answer to several.
void device_core::answer_room() {
  if (refusing_.load(std::memory_order_seq_cst)) {
    const error why = refusal();
    return give_up_room([](const room_answer&) { return true; }, why);
  }
  std::vector<ref<room_answer>> served;
  {
    const std::scoped_lock guard(room_lock_);
    std::uint32_t promised = 0;
    auto next = room_.begin();
    for (; next != room_.end() && ledger_.has_free(promised + (*next)->wanted); ++next) promised += (*next)->wanted;
    served.assign(std::make_move_iterator(room_.begin()), std::make_move_iterator(next));
    room_.erase(room_.begin(), next);
    room_wanted_.store(!room_.empty(), std::memory_order_seq_cst);
  }
  for (const auto& a : served) a->complete({});
}

template <class Which>
void device_core::give_up_room(const Which& which, const error& why) {
  std::vector<ref<room_answer>> gone, stay;
  {
    const std::scoped_lock guard(room_lock_);
    for (ref<room_answer>& a : room_) (which(*a) ? gone : stay).push_back(std::move(a));
    room_ = std::move(stay);
    room_wanted_.store(!room_.empty(), std::memory_order_seq_cst);
  }
  for (const auto& a : gone) a->complete(why);
}

void device_core::cancel_room(const room_answer& answer) noexcept {
  const answering now(*this);
  give_up_room([&](const room_answer& a) { return &a == &answer; },
               error(reaction::retry_later, "device", "room: cancelled before there was any"));
}

void device_core::stop_room_of(const request_scope& scope, const error& why) {
  const answering now(*this);
  if (room_wanted_.load(std::memory_order_seq_cst))
    give_up_room([&](const room_answer& a) { return a.scope.get() == &scope; }, why);
}

// Answers the next time when somebody is to be told that there is no room.
std::int64_t device_core::stop_overdue_room(std::int64_t now) {
  const answering later(*this);
  if (!room_wanted_.load(std::memory_order_seq_cst)) return no_deadline;
  const auto deadline = [](const room_answer& a) { return a.scope ? a.scope->deadline_ns() : no_deadline; };
  give_up_room([&](const room_answer& a) { return deadline(a) <= now; },
               error(reaction::retry_later, "device",
                     "room: there was none within the time of its client (scope_options::timeout)"));
  std::int64_t next = no_deadline;
  const std::scoped_lock guard(room_lock_);
  for (const auto& a : room_) next = std::min(next, deadline(*a));
  return next;
}

}  // namespace troupe
