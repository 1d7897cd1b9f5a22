// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/waiting/milestone.hpp>

namespace troupe {

void milestone::reach(const answering&, const result<void>& outcome) {
  std::vector<ref<pending_state<void>>> now;
  {
    const std::scoped_lock guard(lock_);
    if (outcome_) return;
    outcome_ = outcome;
    now.swap(waiters_);
  }
  for (const auto& w : now) w->complete(outcome);
}

void milestone::reset() {
  const std::scoped_lock guard(lock_);
  outcome_.reset();
}

pending<void> milestone::watch(const std::shared_ptr<device_core>& core) {
  const std::scoped_lock guard(lock_);
  if (outcome_) return make_ready<void>(*outcome_);
  if (waiters_.size() >= prune_at_) {  // a caller that polls makes a new pending each time and drops it
    std::erase_if(waiters_, [](const auto& w) { return w->unshared(); });
    prune_at_ = 2 * waiters_.size() + 16;
  }
  auto waiter = ref<detail::asked<void>>::adopt(new detail::asked<void>(core));
  waiters_.push_back(waiter);
  return pending<void>(std::move(waiter));
}

void milestone::answer(const answering&, ref<pending_state<void>> to) {
  const std::scoped_lock guard(lock_);
  if (outcome_)
    to->complete(*outcome_);
  else
    waiters_.push_back(std::move(to));
}

}  // namespace troupe
