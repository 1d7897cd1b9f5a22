// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/peer_info.hpp>
#include <troupe/device/state.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/request/engine_info.hpp>
#include <troupe/request/lane_policy.hpp>
#include <vector>

namespace troupe {

/// What a device is made of. On a GPU known once a worker was ready (await `started()` first).
struct device_hardware {
  std::string model;                   ///< "NVIDIA H200"; of the host the processor's name
  std::uint32_t capability_major = 0;  ///< compute capability; 0.0 is the host
  std::uint32_t capability_minor = 0;
  std::uint32_t processors = 0;   ///< multiprocessors; of the host the cores that a worker may use
  std::string pci;                ///< "0000:3b:00.0"; empty: none, as of the host
  std::string link;               ///< to the host, as it runs now: "32.0 GT/s PCIe x16"; empty: not known
  std::string driver;             ///< the newest CUDA that the driver supports: "13.0"; empty on the host
  std::uint64_t total_bytes = 0;  ///< of its memory, by whatever program it is used
  /// Of that, what nobody uses, other programs included. At most 10 ms old; older while a GPU's worker does not answer.
  std::uint64_t free_bytes = 0;
  std::vector<hardware_peer> peers = {};  ///< the other GPUs that this program may use
};

/// One of the lanes on which the worker that serves, or served last, does several things at the same time.
struct lane_statistics {
  lane_purpose purpose = lane_purpose::compute;
  std::int32_t priority = 0;    ///< of its stream, as the driver counts: what is less goes first; 0 on the host
  std::uint64_t completed = 0;  ///< requests it is done with since this worker serves, failed and skipped ones too
};

/// True figures of a device at one moment. See the table in docs/performance.md.
struct device_statistics {
  std::string name;
  std::string engine;
  std::uint32_t ordinal = 0;  ///< which of the engine's devices
  device_state state = device_state::starting;
  std::uint64_t generation = 0;  ///< 1 at first; rises with each fault, and when the device stops
  device_hardware hardware;
  memory_statistics memory;       ///< device memory that this device may hand out
  memory_statistics host_memory;  ///< host_buffer, staging, recipes of programs, and what varies in size in requests
  std::vector<lane_statistics> lanes;  ///< empty until a worker serves
  /// Places in the mailbox that are taken: requests without an answer, and those that were cancelled or overdue until
  /// the worker has passed them.
  std::uint32_t depth = 0;
  std::uint32_t capacity = 0;  ///< of the mailbox: mailbox_capacity, rounded up to a power of two
  /// Accepted requests that have been answered, however: done, failed, cancelled, overdue, lost with a worker. Since
  /// the device was opened, over all workers. What the call itself refuses is counted neither here nor in `failed`.
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;          ///< of those, the ones that were answered with an error
  std::vector<engine_info> engines;  ///< loaded at the start; empty until a worker was ready
  /// Of the worker that serves, or served last. 0 until it is there (await `started()` first), and when it is a thread.
  int worker_pid = 0;
  std::vector<int> standby_pids;  ///< of workers that could take over now
  /// Faults of workers that served, or were the next to: each was replaced, or stopped the device. Not those of
  /// standbys. Since the device was opened.
  std::uint64_t faults = 0;
  std::uint64_t quarantined = 0;  ///< kinds of requests that are refused now, with data that brought workers down
  std::vector<peer_statistics> peers = {};  ///< devices that this one has copied from, as long as they exist
};

}  // namespace troupe
