// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/device/waiting/event_stream.hpp>
#include <troupe/device/watch.hpp>

namespace troupe {

std::string_view to_string(event_kind k) noexcept {
  switch (k) {
    case event_kind::serving:
      return "serving";
    case event_kind::fault:
      return "fault";
    case event_kind::standby_ready:
      return "standby ready";
    case event_kind::standby_lost:
      return "standby lost";
    case event_kind::library_restarted:
      return "library restarted";
    case event_kind::quarantined:
      return "quarantined";
    case event_kind::quarantine_ended:
      return "quarantine ended";
    case event_kind::closing:
      return "closing";
    case event_kind::stopped:
      return "stopped";
  }
  return "unknown";
}

std::string device_event::text() const {
  std::string out = cat("generation ", generation, ": ", to_string(kind));
  if (took.nanoseconds != 0) out += cat(" after ", took.nanoseconds / 1000, " us");
  if (kind == event_kind::fault && fault) {
    out += cat(" (", to_string(fault->kind), "), ", fault->lost, " requests lost, ", fault->kept + fault->retried,
               " kept, ", fault->stale, " stale: ", fault->cause.text());
  }
  if (cause) out += ": " + cause->text();
  return out;
}

device_watch::device_watch(std::shared_ptr<event_stream> events) noexcept : events_(std::move(events)) {}
device_watch::~device_watch() {
  if (events_) events_->detach();
}
pending<device_event> device_watch::next() { return events_->next(); }
std::optional<device_event> device_watch::poll() { return events_->poll(); }
std::uint64_t device_watch::missed() const { return events_->missed(); }

}  // namespace troupe
