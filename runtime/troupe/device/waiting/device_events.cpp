// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/device/waiting/device_events.hpp>
#include <troupe/device/waiting/reactor_link.hpp>

namespace troupe {
namespace {

constexpr std::uint32_t most_waiting = 500;

log_level level_of(const device_event& e) noexcept {
  switch (e.kind) {
    case event_kind::fault:
    case event_kind::standby_lost:
    case event_kind::library_restarted:
    case event_kind::quarantined:
      return log_level::warning;
    case event_kind::stopped:
      return e.cause ? log_level::error : log_level::info;
    case event_kind::serving:
    case event_kind::standby_ready:
    case event_kind::quarantine_ended:
    case event_kind::closing:
      break;
  }
  return log_level::info;
}

}  // namespace

void device_events::emit(event_kind kind, std::optional<error> cause, time_span took) {
  const answering now(to_reactor_);
  const device_event e{.kind = kind,
                       .state = state_.load(),
                       .generation = memory_.generation(),
                       .when = std::chrono::system_clock::now(),
                       .took = took,
                       .fault = streams_.last_fault(),
                       .cause = std::move(cause)};
  if (log_) log(level_of(e), e.text());
  streams_.emit(now, e);
}

// The sink is code of the program, so it runs on the thread that runs continuations. The call that leaves no message
// waiting reports how many were dropped, so that they are reported even if no message follows.
void device_events::log(log_level level, std::string text) {
  if (!log_) return;
  if (log_->waiting.fetch_add(1) >= most_waiting) {
    log_->dropped.fetch_add(1);
    if (log_->waiting.fetch_sub(1) == 1) run_behind([to = log_] { to->write_dropped(); });
    return;
  }
  run_behind([to = log_, level, text = std::move(text)] {
    to->write(level, text);
    if (to->waiting.fetch_sub(1) == 1) to->write_dropped();
  });
}

void device_events::log_queue::write(log_level level, std::string_view text) const {
  sink(level, cat(name, ": ", text));
}

void device_events::log_queue::write_dropped() {
  if (const std::uint32_t count = dropped.exchange(0); count != 0)
    write(log_level::warning, cat(count, " messages were dropped: the log sink is too slow"));
}

void device_events::run_behind(std::function<void()> f) {
  const answering now(to_reactor_);
  post(keeping_executor(), std::move(f));
}

}  // namespace troupe
