// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/device/mailbox/deadline_texts.hpp>
#include <troupe/device/mailbox/ledger.hpp>
#include <troupe/device/mailbox/request_scope.hpp>
#include <troupe/device/mailbox/room_queue.hpp>

namespace troupe {

void room_queue::add(ref<room_answer> answer) {
  const std::scoped_lock guard(lock_);
  answers_.push_back(std::move(answer));
  wanted_.store(true, std::memory_order_seq_cst);
}

void room_queue::serve(const answering&, const ledger& slots) {
  std::vector<ref<room_answer>> served;
  {
    const std::scoped_lock guard(lock_);
    std::uint32_t promised = 0;
    auto next = answers_.begin();
    for (; next != answers_.end() && slots.has_free(promised + (*next)->wanted); ++next) promised += (*next)->wanted;
    served.assign(std::make_move_iterator(answers_.begin()), std::make_move_iterator(next));
    answers_.erase(answers_.begin(), next);
    wanted_.store(!answers_.empty(), std::memory_order_seq_cst);
  }
  for (const auto& a : served) a->complete({});
}

void room_queue::fail_if(const answering&, const std::function<bool(const room_answer&)>& which, const error& why) {
  std::vector<ref<room_answer>> gone, stay;
  {
    const std::scoped_lock guard(lock_);
    for (ref<room_answer>& a : answers_) (which(*a) ? gone : stay).push_back(std::move(a));
    answers_ = std::move(stay);
    wanted_.store(!answers_.empty(), std::memory_order_seq_cst);
  }
  for (const auto& a : gone) a->complete(why);
}

std::int64_t room_queue::fail_overdue(const answering& now, std::int64_t now_ns) {
  if (empty()) return no_deadline;
  const auto deadline = [](const room_answer& a) { return a.scope ? a.scope->deadline_ns() : no_deadline; };
  fail_if(
      now, [&](const room_answer& a) { return deadline(a) <= now_ns; },
      error::retry_later("device", ETIMEDOUT, deadline_texts::in_room));
  std::int64_t next = no_deadline;
  const std::scoped_lock guard(lock_);
  for (const auto& a : answers_) next = std::min(next, deadline(*a));
  return next;
}

}  // namespace troupe
