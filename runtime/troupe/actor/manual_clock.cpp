// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <troupe/actor/internal/alarm_list.hpp>
#include <troupe/actor/manual_clock.hpp>

namespace troupe {

using detail::alarm;

struct manual_clock::state {
  detail::alarm_list alarms;
  std::atomic<std::int64_t> now{0};
  std::atomic<bool> closing{false};

  void ring() {
    for (const ref<alarm>& due : alarms.take_due(now.load())) due->complete({});
  }
};

manual_clock::manual_clock() : state_(std::make_unique<state>()) {}

manual_clock::~manual_clock() {
  state_->closing = true;
  for (const ref<alarm>& left : state_->alarms.take_due(INT64_MAX)) left->cancel();
}

std::int64_t manual_clock::now_ns() noexcept { return state_->now.load(); }

pending<void> manual_clock::wake_at(std::int64_t time_ns) {
  auto a = ref<alarm>::adopt(new alarm(time_ns));
  if (state_->closing) {
    a->cancel();
  } else {
    state_->alarms.add(a);
    state_->ring();  // the time may already have passed
  }
  return pending<void>(std::move(a));
}

void manual_clock::advance(time_span by) {
  state_->now.fetch_add(by.nanoseconds);
  state_->ring();
}

std::size_t manual_clock::alarms() const { return state_->alarms.size(); }

}  // namespace troupe
