// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <troupe/request/checker.hpp>
#include <troupe/request/request_list.hpp>

/// The requests that the functions of `event` send.
namespace troupe::events {

/// The memory of an event, which the application reads and the worker writes. All 0 in a new event.
struct event_memory {
  /// Number of the last recording whose point was reached; 0: none.
  std::atomic<std::uint64_t> recorded;
  /// Number of the last recording that was passed to the driver; 0: none.
  std::atomic<std::uint64_t> enqueued;
  /// 1 if a worker has made this event. If it is 0, an entry that the worker has for this address belongs to an earlier
  /// event.
  std::atomic<std::uint64_t> made;
  /// Time at which the point was reached, by the host's clock. Host engine only.
  std::uint64_t at_ns;

  static event_memory& at(const std::byte* operand) noexcept {
    return *const_cast<event_memory*>(reinterpret_cast<const event_memory*>(operand));
  }
};

/// Why most of these requests cannot be part of a graph.
inline constexpr std::string_view between_requests = "an event is a point between requests; record it before or after";

/// A handle for another process: a cudaIpcEventHandle_t.
using event_handle = std::array<std::byte, 64>;

/// Marks a point: the requests that wrote `after` are complete, and later requests that write it run after the point.
/// cuEventRecord
struct record {
  out<std::byte> event;
  list<in<std::byte>> after;
  std::uint64_t number;
  bool inter_process;
  std::optional<in<std::byte>> opened = {};  ///< for an event of another process: what `open` has written
  static constexpr std::string_view not_recorded = between_requests;
  TROUPE_REQUEST("events.record", event, after, number, inter_process, opened)
  void check(checker& c) const;
};
/// Marks the point at which everything sent before is complete.
struct record_all {
  out<std::byte> event;
  std::uint64_t number;
  bool inter_process;
  std::optional<in<std::byte>> opened = {};
  static constexpr std::string_view not_recorded = between_requests;
  TROUPE_REQUEST("events.record_all", event, number, inter_process, opened)
  void check(checker& c) const;
};

/// Orders every later use of `before` after the event.   cuStreamWaitEvent
struct hold_back {
  in<std::byte> event;
  list<inout<std::byte>> before;
  static constexpr std::string_view not_recorded = between_requests;
  TROUPE_REQUEST("events.hold_back", event, before)
  void check(checker& c) const;
};

/// Completes when the event's point has been reached.
struct reach {
  in<std::byte> event;
  static constexpr std::string_view not_recorded = between_requests;
  TROUPE_REQUEST("events.reach", event)
  void check(checker& c) const;
};

/// Returns the nanoseconds between two events, which can be negative.   cuEventElapsedTime
struct elapsed_time {
  in<std::byte> from, to;
  using reply = std::int64_t;
  TROUPE_REQUEST("events.elapsed", from, to)
  void check(checker& c) const;
};

/// Returns the handle for another process, and makes the event if it does not exist. The result does not depend on
/// recordings, so this request is not ordered with them.   cuIpcGetEventHandle
struct share {
  in<std::byte> event;
  bool inter_process;
  using reply = event_handle;
  TROUPE_REQUEST("events.share", event, inter_process)
  void check(checker& c) const;
};
/// Opens an event of another process.   cuIpcOpenEventHandle
struct open {
  out<std::byte> event;
  /// Stands for the event that is open in this worker; no other request writes it. A recording reads it, and is
  /// therefore refused if no event is open; otherwise it would record an event that only this process knows.
  out<std::byte> opened;
  event_handle handle;
  static constexpr std::string_view not_recorded = between_requests;
  TROUPE_REQUEST("events.open", event, opened, handle)
  void check(checker& c) const;
};

/// Frees the event in the worker. Sent when the last handle is destroyed.   cuEventDestroy
struct forget {
  out<std::byte> event;
  static constexpr std::string_view not_recorded = between_requests;
  TROUPE_REQUEST("events.forget", event)
  void check(checker& c) const;
};

using requests_here = request_list<record, record_all, hold_back, reach, elapsed_time, forget>;
using requests_between_processes = request_list<share, open>;
using all_requests = joined_requests<requests_here, requests_between_processes>;

}  // namespace troupe::events
