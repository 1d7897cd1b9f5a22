// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/async/pending.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/device/state.hpp>

namespace troupe {

/// The kinds of events of a device.
enum class event_kind : std::uint8_t {
  serving,        ///< a worker serves: the first one, or the next one after a fault
  fault,          ///< the serving worker has ended; `fault` has everything known about it
  standby_ready,  ///< one more standby could take over
  standby_lost,   ///< a standby has ended, and another one is launched; `cause` says why
  /// The engine of one library was closed and opened again because its handle was broken; `cause` names it. Everything
  /// else continued.
  library_restarted,
  quarantined,       ///< a request is refused from now on with the same data; `cause` names it and the duration
  quarantine_ended,  ///< requests of one kind are accepted again with any data; `cause` names it and the reason
  closing,           ///< new requests are refused
  stopped,           ///< no requests are served; without a `cause` after an orderly close
};

std::string_view to_string(event_kind k) noexcept;

/// An event of a device.
struct device_event {
  event_kind kind;
  device_state state;  ///< state of the device from this event on
  std::uint64_t generation;
  std::chrono::system_clock::time_point when;
  time_span took = {};                             ///< serving: the time since the fault was detected, or since opening
  std::shared_ptr<const fault_record> fault = {};  ///< the last fault; null if there was none
  std::optional<error> cause = {};                 ///< for the kinds that mention it above, and for `stopped`

  std::string text() const;  ///< a line for a log
};

class event_stream;

/// Receives the events of a device, in order, from the creation of the watch on. Keeps the newest 1024 events until
/// they are taken. Movable; not thread-safe.
class device_watch {
 public:
  explicit device_watch(std::shared_ptr<event_stream> events) noexcept;
  device_watch(device_watch&&) noexcept = default;
  device_watch& operator=(device_watch&&) noexcept = default;
  ~device_watch();

  /// Returns a pending of the next event. Only the newest call waits: a new call, or the destruction of the watch,
  /// fails an earlier one with `retry_later`. Fails with `stopped` if the device has been closed.
  pending<device_event> next();
  /// Takes the next event; returns nullopt if there is none yet.
  std::optional<device_event> poll();
  /// Returns the number of events that were dropped because they were not taken in time.
  std::uint64_t missed() const;

 private:
  std::shared_ptr<event_stream> events_;
};

}  // namespace troupe
