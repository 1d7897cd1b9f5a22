// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/error.hpp>
#include <troupe/base/time_span.hpp>
#include <vector>

namespace troupe {

/// The kind of failure of a worker.
enum class fault_kind : std::uint8_t {
  ended,       ///< its process ended by a signal or an unexpected exit
  gave_up,     ///< it reported that it cannot go on
  misbehaved,  ///< it wrote something impossible to the memory that it shares with the application
  silent,      ///< it gave no sign of life for device_options::heartbeat_timeout; or it did not begin a request that
               ///< had nothing left to wait for within its run_timeout plus device_options::start_timeout
  overran,     ///< a request ran for longer than its run_timeout
  late,        ///< it was not ready within device_options::start_timeout
};

std::string_view to_string(fault_kind k) noexcept;

/// The outcome of a request when a worker died.
enum class request_fate : std::uint8_t {
  finished,  ///< it had succeeded before the fault
  lost,      ///< it had started; it fails with `context_lost`
  kept,      ///< it had not started; the next worker runs it
  retried,   ///< it had started, and the next worker runs it again: see call_options::retries
  stale,     ///< it had not started, but data that it reads is lost; it fails with the cause of that loss
  failed,    ///< it had failed before the fault, perhaps because of an earlier fault
};
TROUPE_ENUM(request_fate, finished, lost, kept, retried, stale, failed)

/// The black box: everything known about the end of a serving worker. See device::last_fault and device_event.
struct fault_record {
  struct request {
    request_id id;
    request_fate fate;
  };

  std::string device;
  fault_kind kind = fault_kind::ended;
  error cause;                   ///< the error of the requests that were lost
  std::uint64_t generation = 0;  ///< the generation that ended
  int worker_pid = 0;
  std::chrono::system_clock::time_point when = {};  ///< time at which the fault was detected
  std::optional<request_id> blamed = {};            ///< the request that killed the worker, if known
  std::uint32_t deaths_alike = 0;  ///< workers killed by requests of the same kind, including this one, within
                                   ///< device_options::restart_window; 0 if there is no quarantine
  bool quarantined = false;        ///< true if that request is refused from now on if it has the same data
  time_span quarantine = {};       ///< how long it is refused, without another such death or reset()
  int signal = 0;                  ///< the signal that ended the worker; 0 if none did
  std::optional<std::uint64_t> address = {};  ///< the address of the invalid access, if the signal reports one
  /// The Xid (NVIDIA's number of an error) that the GPU reported within two seconds before the worker ended, if the
  /// worker listened: see docs/gpu-faults.md. It may have concerned another program. 0: none.
  std::uint32_t xid = 0;
  std::string gpu_core = {};  ///< the core file in device_options::gpu_core_folder; empty if there is none
  std::uint32_t lost = 0, kept = 0, retried = 0, stale = 0;  ///< numbers of requests
  time_span sorted_out_after = {};                           ///< from the detection until their fates were decided
  std::vector<request> last = {};                            ///< the last requests, oldest first; at most 64

  /// Returns a description of several lines.
  std::string text() const;
};

}  // namespace troupe
