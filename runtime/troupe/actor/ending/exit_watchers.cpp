// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/ending/exit_watchers.hpp>

namespace troupe::detail {

bool exit_watchers::add(watcher& w) {
  {
    const std::lock_guard lock(guard_);
    if (!reason_) return watchers_.push_back(&w), true;
  }
  w.exited(*reason_);
  return false;
}

bool exit_watchers::remove(watcher& w) noexcept {
  const std::lock_guard lock(guard_);
  return std::erase(watchers_, &w) != 0;
}

void exit_watchers::cancel_at_end(ref<pending_core> source) {
  {
    const std::lock_guard lock(guard_);
    if (!reason_) {
      if (sources_.size() == sources_.capacity())
        std::erase_if(sources_, [](const ref<pending_core>& s) { return s->done(); });
      sources_.push_back(std::move(source));
      return;
    }
  }
  source->cancel();
}

const exit_reason* exit_watchers::reason() const noexcept {
  const std::lock_guard lock(guard_);
  return reason_ ? &*reason_ : nullptr;
}

void exit_watchers::end(const exit_reason& reason, actor_orders& orders) noexcept {
  std::vector<watcher*> watchers;
  std::vector<ref<pending_core>> sources;
  {
    const std::lock_guard lock(guard_);
    reason_ = reason;
    orders.end();
    watchers.swap(watchers_);
    sources.swap(sources_);
  }
  for (const ref<pending_core>& source : sources) source->cancel();
  for (watcher* const w : watchers) w->exited(reason);
}

}  // namespace troupe::detail
