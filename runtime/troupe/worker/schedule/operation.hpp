// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/schedule/failure.hpp>

namespace troupe {

/// The maximum number of operations that may share one call.
inline constexpr std::uint32_t most_together = 32;
/// The maximum for operations that run in order, for which fewer, larger calls save more.
inline constexpr std::uint32_t most_in_order = 64;

/// A request inside the worker, from the pump's decision to its completion. Stored in an array by slot of the mailbox,
/// so it is never allocated.
struct operation {
  std::uint64_t ticket = 0;
  std::uint32_t slot = 0;
  position at;
  const troupe_engine_operation* what = nullptr;  ///< null if no engine can run it; `doomed` says why
  void* engine = nullptr;
  std::uint32_t library = 0;  ///< number of the engine, in the order of loading
  wait_list waits;
  failure_lookup inputs;
  failure_ptr doomed;                      ///< the failure, if it is known in advance that the operation cannot run
  std::span<const memory_access> touched;  ///< in the record of its slot, or a longer list in the application's memory
  std::atomic<bool> awaited{false};        ///< true if another lane or the host waits for it: it is marked at once
  bool timed = false;                      ///< true if the application watches how long the operation runs
  bool only_enqueues = false;              ///< true if the operation runs on a stream and does not block
  std::uint32_t together = 1;              ///< number of operations of its lane, from this one on, that share its call
  const std::byte* payload = nullptr;      ///< in the record, valid until the request is retired

  /// Returns the operation's name and ticket. The name is empty if `what` is null.
  request_id id() const { return {what != nullptr ? what->name : "", ticket}; }
};

}  // namespace troupe
