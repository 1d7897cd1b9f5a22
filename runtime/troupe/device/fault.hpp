// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/error.hpp>
#include <troupe/base/time_span.hpp>
#include <vector>

namespace troupe {

/// How it was seen that a worker cannot go on.
enum class fault_kind : std::uint8_t {
  ended,       ///< its process ended: a signal, or an exit nobody asked for
  gave_up,     ///< it said itself that it cannot go on
  misbehaved,  ///< it wrote something impossible into the memory it shares with the application
  silent,      ///< it gave no sign of life for device_options::heartbeat_timeout; or did not begin a request with a
               ///< run_timeout, which had nothing to wait for, within that and device_options::start_timeout
  overran,     ///< a request ran for longer than its run_timeout
  late,        ///< it was not ready within device_options::start_timeout
};

std::string_view to_string(fault_kind k) noexcept;

/// What became of a request when a worker died.
enum class request_fate : std::uint8_t {
  finished,  ///< before; it has its answer
  lost,      ///< it had started: answered `context_lost`
  kept,      ///< it had not started: the next worker runs it
  retried,   ///< it had started, and the next worker runs it again: see call_options::retries
  stale,     ///< it had not started, and what it reads is lost: answered with the cause of that
};

std::string_view to_string(request_fate f) noexcept;

/// The black box: what is known of the end of a worker that served. See device::last_fault and device_event.
struct fault_record {
  struct request {
    request_id id;
    request_fate fate;
  };

  std::string device;
  fault_kind kind = fault_kind::ended;
  error cause;                   ///< as those were told whose requests it took along
  std::uint64_t generation = 0;  ///< the one that ended
  int worker_pid = 0;
  std::chrono::system_clock::time_point when = {};  ///< it was seen
  std::optional<request_id> blamed = {};            ///< the request it died of, when that is known
  std::uint32_t deaths_alike = 0;  ///< workers that requests of its kind have brought down, this one included, within
                                   ///< device_options::restart_window; 0 without quarantine
  bool quarantined = false;        ///< that request is refused from now on with the data that it had …
  time_span quarantine = {};       ///< … for so long, if nothing else dies of its kind, or until reset()
  int signal = 0;                  ///< that ended it, when one did
  std::optional<std::uint64_t> address = {};  ///< of the invalid access, where the signal tells it
  std::string gpu_core = {};  ///< the file that device_options::gpu_core_folder asks for, if there is one
  std::uint32_t lost = 0, kept = 0, retried = 0, stale = 0;  ///< requests
  time_span sorted_out_after = {};                           ///< from when it was seen until all these were decided
  std::vector<request> last = {};                            ///< the last requests, oldest first: at most 64

  /// Several lines for a person.
  std::string text() const;
};

}  // namespace troupe
