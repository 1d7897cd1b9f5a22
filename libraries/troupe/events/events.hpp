// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <troupe/device/device.hpp>
#include <troupe/events/requests.hpp>

namespace troupe::events {

/// How to make an event.
struct event_options {
  bool inter_process = false;  ///< other processes can wait for it; then it cannot tell the time. On a GPU only
};

/// A point in what a device does: between two of them lies a time, by the GPU's own clock, or the host's on the host
/// engine. A device orders its requests by itself, so no program needs events for order among them.
///
/// A handle; copies are the same event. An event that was recorded before its worker died is stale: record it anew. One
/// of another process is then to be opened anew. All functions may be called from any thread.
class event {
 public:
  explicit event(const device& gpu, const event_options& options = {});
  /// One that another process has shared; it is recorded there, or here for that one to wait. Where that
  /// fails, whatever is asked of the event is refused with the cause. On a GPU only.
  static event open(const device& gpu, const event_handle& handle);

  /// Marks the point where all that was sent before is done. It waits for that on the host, which costs some
  /// microseconds: to time one kernel, name a buffer that it writes.
  pending<void> record() const;
  /// Marks the point where what wrote these buffers is done; what writes them later comes after it.
  template <class... T>
    requires(sizeof...(T) > 0)
  pending<void> record(const buffer<T>&... after) const {
    return record_after({in<std::byte>(after.memory())...});
  }
  /// What uses these buffers from now on comes after the event. Among the requests of one device that is so by
  /// itself; this is for what another process has recorded.
  template <class... T>
    requires(sizeof...(T) > 0)
  pending<void> hold_back(const buffer<T>&... before) const {
    return hold_back_all({inout<std::byte>(before.memory())...});
  }
  /// Is the last recording reached? Does not wait. False before any. Says nothing of recordings that were refused or
  /// lost with their worker, nor of those of another process: `reached` does.
  bool query() const noexcept;
  /// Does the driver have the last recording? A caller of `hold_back` or `reached` in another process from now on
  /// waits for it. Does not wait, and is said of the same recordings as `query`; whatever is reached is enqueued.
  bool enqueued() const noexcept;
  /// Answered when the last recording is reached.
  pending<void> reached() const;
  /// For `open` in another process; of events made for that, recorded or not. Of one that was opened it is what that
  /// was opened with. On the host engine `unsupported`.
  pending<event_handle> handle() const;

  friend pending<std::chrono::nanoseconds> elapsed(const event& from, const event& to);

 private:
  struct state;
  pending<void> record_after(std::vector<in<std::byte>> after) const;
  pending<void> hold_back_all(std::vector<inout<std::byte>> before) const;
  std::shared_ptr<state> state_;
};

/// The time from one event to another, once both are reached. Negative when `to` was first.
pending<std::chrono::nanoseconds> elapsed(const event& from, const event& to);

}  // namespace troupe::events
