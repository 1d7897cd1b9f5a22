// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <troupe/async/pending.hpp>
#include <troupe/device/fault.hpp>
#include <troupe/device/state.hpp>

namespace troupe {

/// What happens to a device.
enum class event_kind : std::uint8_t {
  serving,        ///< a worker serves: the first, or the next one after a fault
  fault,          ///< the worker that served is gone; `fault` says all that is known
  standby_ready,  ///< one more worker could take over
  standby_lost,   ///< one of those has ended; `cause` says why. Another one is made
  /// The engine of one library was closed and opened anew, because its handle was broken; `cause` names it. Nothing
  /// else was touched.
  library_restarted,
  quarantined,  ///< a request is refused from now on, with the data that it had; `cause` names it and says how long
  quarantine_ended,  ///< requests of one kind are taken again with all data; `cause` names it and says why
  closing,           ///< no new requests are taken
  stopped,           ///< nothing is served any more; without `cause` after an orderly close
};

std::string_view to_string(event_kind k) noexcept;

/// Something that happened to a device.
struct device_event {
  event_kind kind;
  device_state state;  ///< from now on
  std::uint64_t generation;
  std::chrono::system_clock::time_point when;
  time_span took = {};                             ///< serving: since the fault was seen, or since opening
  std::shared_ptr<const fault_record> fault = {};  ///< of this generation's beginning; null before any
  std::optional<error> cause = {};                 ///< of all that say so above, and of stopped

  /// One line for a log.
  std::string text() const;
};

class event_stream;

/// Receives the events of a device from the moment it was made, in order. What nobody takes is kept, the newest 1024.
/// Movable; one thread at a time.
class device_watch {
 public:
  explicit device_watch(std::shared_ptr<event_stream> events) noexcept;
  device_watch(device_watch&&) noexcept = default;
  device_watch& operator=(device_watch&&) noexcept = default;
  ~device_watch();

  /// The next event: now, or when it happens. Only the newest call waits; an earlier one that still does is answered
  /// `retry_later`, as it is when the watch goes. `stopped` when the device is gone for good.
  pending<device_event> next();
  /// The next event, if it has happened.
  std::optional<device_event> poll();
  /// How many were dropped because nobody took them.
  std::uint64_t missed() const;

 private:
  std::shared_ptr<event_stream> events_;
};

}  // namespace troupe
