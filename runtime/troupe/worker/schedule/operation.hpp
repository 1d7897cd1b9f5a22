// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <troupe/worker/plugins/engines.hpp>
#include <troupe/worker/schedule/failure.hpp>

namespace troupe {

/// As many operations as may share one call.
inline constexpr std::uint32_t most_together = 32;

/// One request inside the worker, from the pump's decision to its end. Lives in an array by ledger slot, so none is
/// ever allocated.
struct operation {
  std::uint64_t ticket = 0;
  std::uint32_t slot = 0;
  position at;
  const troupe_engine_operation* what = nullptr;  ///< null when nothing here can run it; `doomed` says why
  void* engine = nullptr;
  std::uint32_t library = 0;  ///< of the engine, in the order of loading
  wait_list waits;
  failure_lookup inputs;
  failure_ptr doomed;                      ///< set when it is known before its turn that it cannot run
  std::span<const memory_access> touched;  ///< in the record of its slot, or a longer list in the application's memory
  std::atomic<bool> awaited{false};        ///< by another lane: the device is to say at once when it is done
  bool timed = false;                      ///< so it is here: the application looks how long it runs
  bool only_enqueues = false;              ///< on a stream, and nothing keeps it from that
  std::uint32_t together = 1;              ///< with how many of its lane, from this one on, it shares a call
  const std::byte* payload = nullptr;      ///< in the record, which is there until the request is retired

  /// Nameless while nobody knows what it is.
  request_id id() const { return {what != nullptr ? what->name : "", ticket}; }
};

}  // namespace troupe
