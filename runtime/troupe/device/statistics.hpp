// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/device/peer_info.hpp>
#include <troupe/device/state.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/request/engine_info.hpp>
#include <troupe/request/lane_policy.hpp>
#include <vector>

namespace troupe {

/// The hardware of a device. On a GPU, it is known once a worker has become ready (await `started()` first).
struct device_hardware {
  std::string model;                   ///< "NVIDIA H200"; on the host, the processor's name
  std::uint32_t capability_major = 0;  ///< compute capability; 0.0 on the host
  std::uint32_t capability_minor = 0;
  std::uint32_t processors = 0;   ///< multiprocessors; on the host, the cores that a worker may use
  std::string pci;                ///< PCI address, "0000:3b:00.0"; empty if there is none, as on the host
  std::string link;               ///< current link to the host, "32.0 GT/s PCIe x16"; empty if unknown
  std::string driver;             ///< the newest CUDA version that the driver supports, "13.0"; empty on the host
  std::uint64_t total_bytes = 0;  ///< of its memory, including memory that other programs use
  /// Bytes of memory that no program uses. At most 10 ms old, or older while a GPU's worker does not answer.
  std::uint64_t free_bytes = 0;
  std::vector<hardware_peer> peers = {};  ///< the other GPUs that this program can use
};

/// A lane of the worker that serves, or that served last. Lanes run at the same time.
struct lane_statistics {
  lane_purpose purpose = lane_purpose::compute;
  std::int32_t priority = 0;  ///< of its stream, as the driver counts: a lower number goes first; 0 on the host
  /// Number of requests completed since this worker began to serve, including failed and skipped ones.
  std::uint64_t completed = 0;
  /// Number of those that shared a call with others: see coalescing in docs/concepts.md.
  std::uint64_t together = 0;
};

/// Numbers of requests that the call itself rejected, so that they never ran, by reason.
struct rejected_requests {
  std::uint64_t invalid = 0;       ///< the request is wrong, writes a sealed buffer, or is in quarantine
  std::uint64_t stale_data = 0;    ///< it reads data that is stale, and nothing else is wrong with it
  std::uint64_t mailbox_full = 0;  ///< there was no room, and the call was not allowed to wait, or waited in vain
  std::uint64_t overdue = 0;       ///< its deadline had passed, or its scope had ended
  std::uint64_t no_memory = 0;     ///< there was no memory for its texts and lists
  std::uint64_t stopped = 0;       ///< the device was closing or had stopped
  std::uint64_t total() const noexcept { return invalid + stale_data + mailbox_full + overdue + no_memory + stopped; }
};

/// Statistics of a device at one moment. See the table in docs/performance.md.
struct device_statistics {
  std::string name;
  std::string engine;         ///< "host", "cuda"
  std::string engine_reason;  ///< why this engine was selected, in words
  std::uint32_t ordinal = 0;  ///< number of the engine's device
  device_state state = device_state::starting;
  std::uint64_t generation = 0;  ///< 1 at first; increases with each fault, and when the device stops
  device_hardware hardware;
  memory_statistics memory;       ///< device memory that this device may allocate
  memory_statistics host_memory;  ///< host_buffer, staging, recipes of programs, and the texts and lists of requests
  std::vector<lane_statistics> lanes;  ///< empty until a worker serves
  /// Number of slots of the mailbox in use: by unanswered requests, and by cancelled or overdue ones until the worker
  /// has passed them.
  std::uint32_t depth = 0;
  std::uint32_t capacity = 0;  ///< slots of the mailbox: mailbox_capacity, rounded up to a power of two
  /// Number of accepted requests that were answered: done, failed, cancelled, overdue or lost with a worker. Counts
  /// since the device was opened, over all workers. Requests that the call itself rejected count only in `rejected`.
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;          ///< number of those that were answered with an error
  rejected_requests rejected = {};   ///< since the device was opened
  std::vector<engine_info> engines;  ///< engines loaded at the start; empty until a worker has become ready
  /// Process ID of the worker that serves, or that served last. Nothing before the first one (await `started()` first),
  /// and if the worker is a thread.
  std::optional<int> worker_pid = {};
  std::vector<int> standby_pids;  ///< process IDs of the workers that could take over now
  /// Number of faults of workers that served or were next to serve: each was replaced, or stopped the device. Excludes
  /// faults of standbys. Counts since the device was opened.
  std::uint64_t faults = 0;
  std::uint64_t quarantined = 0;            ///< kinds of requests that are refused now with data that killed workers
  std::vector<peer_statistics> peers = {};  ///< devices that this one has copied from, as long as they exist
};

}  // namespace troupe
