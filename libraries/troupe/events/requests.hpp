// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <troupe/request/checker.hpp>
#include <troupe/request/request_list.hpp>

/// The requests behind `event`, whose functions a user calls.
namespace troupe::events {

/// The memory of an event, seen by both sides: the worker writes it. All 0 when the event is new.
struct event_memory {
  std::atomic<std::uint64_t> recorded;  ///< the number of the recording that was reached last; 0: none
  std::atomic<std::uint64_t> enqueued;  ///< the number of the one that the driver was given last; 0: none
  /// 1 once a worker has made this event. Otherwise what it has under this address is of an event before.
  std::atomic<std::uint64_t> made;
  std::uint64_t at_ns;  ///< when it was reached, by the host's clock; on the host engine

  static event_memory& at(const std::byte* operand) noexcept {
    return *const_cast<event_memory*>(reinterpret_cast<const event_memory*>(operand));
  }
};

/// Why most of them cannot be part of a graph.
inline constexpr std::string_view between_requests = "an event is a point between requests; record it before or after";

/// For another process: a cudaIpcEventHandle_t.
using event_handle = std::array<std::byte, 64>;

/// Marks a point: when what wrote `after` is done, and before what writes it later begins.   cuEventRecord
struct record {
  out<std::byte> event;
  list<in<std::byte>> after;
  std::uint64_t number;
  bool inter_process;
  std::optional<in<std::byte>> opened = {};  ///< of an event of another process: what `open` wrote
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.record", event, after, number, inter_process, opened)
  void check(checker& c) const;
};
/// The same for everything that was sent before.
struct record_all {
  out<std::byte> event;
  std::uint64_t number;
  bool inter_process;
  std::optional<in<std::byte>> opened = {};
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.record_all", event, number, inter_process, opened)
  void check(checker& c) const;
};

/// What uses `before` from now on comes after the event.   cuStreamWaitEvent
struct hold_back {
  in<std::byte> event;
  list<inout<std::byte>> before;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.hold_back", event, before)
  void check(checker& c) const;
};

/// Answered when the event is reached.
struct reach {
  in<std::byte> event;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.reach", event)
  void check(checker& c) const;
};

/// Nanoseconds between two events, which may be negative.   cuEventElapsedTime
struct elapsed_time {
  in<std::byte> from, to;
  using reply = std::int64_t;
  TROUPE_REQUEST("events.elapsed", from, to)
  void check(checker& c) const;
};

/// For another process; makes the event when there is none. Its recordings do not matter, nor what became of them: so
/// it comes neither before nor after any.   cuIpcGetEventHandle
struct share {
  in<std::byte> event;
  bool inter_process;
  using reply = event_handle;
  TROUPE_REQUEST("events.share", event, inter_process)
  void check(checker& c) const;
};
/// Of another process.   cuIpcOpenEventHandle
struct open {
  out<std::byte> event;
  /// Stands for the event that is open in this worker; nothing else writes it. So a recording that reads it is refused
  /// when there is none, and would otherwise be made by an event of this process alone.
  out<std::byte> opened;
  event_handle handle;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.open", event, opened, handle)
  void check(checker& c) const;
};

/// What the last handle sends.   cuEventDestroy
struct forget {
  out<std::byte> event;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.forget", event)
  void check(checker& c) const;
};

using requests_here = request_list<record, record_all, hold_back, reach, elapsed_time, forget>;
using requests_between_processes = request_list<share, open>;
using all_requests = joined_requests<requests_here, requests_between_processes>;

}  // namespace troupe::events
