// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <troupe/device/device.hpp>
#include <troupe/events/requests.hpp>

namespace troupe::events {

/// The options of an event.
struct event_options {
  /// True if other processes can wait for the event; such an event has no time. GPU only.
  bool inter_process = false;
};

/// A point in a device's work. Two events measure the time between them, by the GPU's own clock, or by the host's clock
/// on the host engine. A device orders its requests by itself, so no program needs events for that.
///
/// A handle: copies denote the same event. An event that was recorded before its worker died is stale: record it again.
/// An event of another process must also be opened again before. Thread-safe.
class event {
 public:
  explicit event(const device& gpu, const event_options& options = {});
  /// Opens an event that another process has shared. Either process can record it, for the other one to wait for. If
  /// opening fails, every use of the event is refused with the cause. GPU only.
  static event open(const device& gpu, const event_handle& handle);

  /// Marks the point at which everything sent before is complete. The worker waits for that point on the host, which
  /// costs some microseconds: to time one kernel, name a buffer that it writes.
  pending<void> record() const;
  /// Marks the point at which the requests sent before that write these buffers are complete. Requests sent later that
  /// write them run after this point.
  template <class... T>
    requires(sizeof...(T) > 0)
  pending<void> record(const buffer<T>&... after) const {
    return record_after({in<std::byte>(after.memory())...});
  }
  /// Orders every later use of these buffers after the event. A device orders its own requests anyway; this is for
  /// events that another process records.
  template <class... T>
    requires(sizeof...(T) > 0)
  pending<void> hold_back(const buffer<T>&... before) const {
    return hold_back_all({inout<std::byte>(before.memory())...});
  }
  /// Returns true if the point of the last recording has been reached. Does not wait. Returns false before the first
  /// recording. Ignores recordings that were refused, lost with their worker, or made by another process: `reached`
  /// covers these.
  bool query() const noexcept;
  /// Returns true if the last recording has been passed to the driver: from then on, a `hold_back` or `reached` in
  /// another process waits for it. Does not wait, and ignores the same recordings as `query`. A recording whose point
  /// has been reached counts as enqueued.
  bool enqueued() const noexcept;
  /// Completes when the point of the last recording has been reached.
  pending<void> reached() const;
  /// Returns the handle that another process passes to `open`. Requires `inter_process`; the event need not have been
  /// recorded. An event that was opened returns the handle it was opened with. Fails with `unsupported` on the host
  /// engine.
  pending<event_handle> handle() const;

  friend pending<std::chrono::nanoseconds> elapsed(const event& from, const event& to);

 private:
  struct state;
  pending<void> record_after(std::vector<in<std::byte>> after) const;
  pending<void> hold_back_all(std::vector<inout<std::byte>> before) const;
  std::shared_ptr<state> state_;
};

/// Returns the time from one event to another, once both have been reached. It is negative if `to` was reached first.
pending<std::chrono::nanoseconds> elapsed(const event& from, const event& to);

}  // namespace troupe::events
