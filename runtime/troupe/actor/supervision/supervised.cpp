// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <troupe/actor/supervision/supervised.hpp>

namespace troupe {

actor_handle child_slot::current() const {
  const std::lock_guard lock(guard_);
  return actor_;
}

void child_slot::begin_life(const actor_handle& actor, std::uint64_t owner) {
  actor_handle last = actor;  // the previous incarnation; released after guard_ is unlocked
  {
    const std::lock_guard lock(guard_);
    if (owner < owner_ && !retired_) return;
    std::swap(last, actor_);
    owner_ = owner;
    retired_ = false;
    why_retired_.clear();
  }
}

void child_slot::retire(std::uint64_t owner) noexcept {
  const std::lock_guard lock(guard_);
  if (owner < owner_) return;
  owner_ = owner;
  retired_ = true;
}

void child_slot::retire(std::uint64_t owner, std::string why) noexcept {
  const std::lock_guard lock(guard_);
  if (owner < owner_) return;
  owner_ = owner;
  retired_ = true;
  why_retired_ = std::move(why);
}

refusal child_slot::reason_for(refusal why) const noexcept {
  if (why != refusal::stopped && why != refusal::empty) return why;
  const std::lock_guard lock(guard_);
  return retired_ ? refusal::stopped : refusal::restarting;
}

error child_slot::explain(refusal why) const {
  if (why == refusal::restarting)
    return error::retry_later(
        "supervisor", EAGAIN,
        "child '" + id_ + "' is not running: it has not been started yet, or is being restarted; send again later");
  const std::lock_guard lock(guard_);
  if (!why_retired_.empty())
    return error(reaction::stopped, "supervisor",
                 "child '" + id_ + "' takes no more messages and will not be restarted: " + why_retired_);
  return error(
      reaction::stopped, "supervisor",
      "child '" + id_ +
          "' was stopped and will not be restarted: ask its supervisor to restart_child, or watch the supervisor");
}

}  // namespace troupe
