// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <troupe/request/checker.hpp>
#include <vector>

/// The requests behind `event`, whose functions a user calls.
namespace troupe::events {

/// The memory of an event, seen by both sides: the worker writes it.
struct event_memory {
  std::atomic<std::uint64_t> recorded;  ///< the number of the recording that was reached last; 0: none
  std::uint64_t at_ns;                  ///< when, by the host's clock; on the host engine
};

/// Why most of them cannot be part of a graph.
inline constexpr std::string_view between_requests = "an event is a point between requests; record it before or after";

/// For another process: a cudaIpcEventHandle_t.
using event_handle = std::array<std::byte, 64>;

/// Marks a point: when what wrote `after` is done, and before whoever writes it later begins.   cuEventRecord
struct record {
  out<std::byte> event;
  std::vector<in<std::byte>> after;
  std::uint64_t number;
  bool inter_process;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.record", event, after, number, inter_process)
  void check(checker& c) const;
};
/// The same for everything that was sent before.
struct record_all {
  out<std::byte> event;
  std::uint64_t number;
  bool inter_process;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.record_all", event, number, inter_process)
  void check(checker& c) const;
};

/// Whoever uses `before` from now on comes after the event.   cuStreamWaitEvent
struct hold_back {
  in<std::byte> event;
  std::vector<inout<std::byte>> before;
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

/// For another process.   cuIpcGetEventHandle
struct share {
  in<std::byte> event;
  using reply = event_handle;
  TROUPE_REQUEST("events.share", event)
  void check(checker& c) const;
};
/// Of another process.   cuIpcOpenEventHandle
struct open {
  out<std::byte> event;
  event_handle handle;
  static constexpr std::string_view not_recorded = between_requests;
  using reply = void;
  TROUPE_REQUEST("events.open", event, handle)
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

}  // namespace troupe::events
