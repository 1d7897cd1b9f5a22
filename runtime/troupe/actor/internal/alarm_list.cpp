// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/actor/internal/alarm_list.hpp>
#include <troupe/async/cancellation.hpp>

namespace troupe::detail {

void alarm::cancel() noexcept { complete(cancelled("the alarm")); }

bool alarm_list::add(ref<alarm> a) {
  const std::lock_guard lock(guard_);
  if (alarms_.size() >= tidy_at_) {
    drop_cancelled();
    tidy_at_ = std::max<std::size_t>(32, 2 * alarms_.size());
  }
  const auto place = std::lower_bound(alarms_.begin(), alarms_.end(), a,
                                      [](const ref<alarm>& x, const ref<alarm>& y) { return x->time_ns > y->time_ns; });
  const auto added = alarms_.insert(place, std::move(a));  // before `alarms_.end()`, which insert changes
  return added + 1 == alarms_.end();
}

std::vector<ref<alarm>> alarm_list::take_due(std::int64_t now_ns) {
  const std::lock_guard lock(guard_);
  std::vector<ref<alarm>> due;
  while (!alarms_.empty() && alarms_.back()->time_ns <= now_ns) {
    due.push_back(std::move(alarms_.back()));
    alarms_.pop_back();
  }
  return due;
}

std::int64_t alarm_list::earliest() const {
  const std::lock_guard lock(guard_);
  return alarms_.empty() ? INT64_MAX : alarms_.back()->time_ns;
}

std::size_t alarm_list::size() const {
  const std::lock_guard lock(guard_);
  return static_cast<std::size_t>(
      std::count_if(alarms_.begin(), alarms_.end(), [](const ref<alarm>& a) { return !a->done(); }));
}

void alarm_list::drop_cancelled() {
  std::erase_if(alarms_, [](const ref<alarm>& a) { return a->done(); });
}

}  // namespace troupe::detail
