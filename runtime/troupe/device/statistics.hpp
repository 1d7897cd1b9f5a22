// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/peers.hpp>
#include <troupe/device/state.hpp>
#include <troupe/memory/statistics.hpp>
#include <troupe/request/lane_policy.hpp>
#include <vector>

namespace troupe {

/// What a device is made of. On a GPU known once a worker was ready (await `started()` first).
struct device_hardware {
  std::string model;                   ///< "NVIDIA H200"; of the host the processor's name
  std::uint32_t capability_major = 0;  ///< compute capability; 0.0 is the host
  std::uint32_t capability_minor = 0;
  std::uint32_t processors = 0;           ///< multiprocessors; of the host the cores that a worker may use
  std::string pci;                        ///< "0000:3b:00.0"; empty: none, as of the host
  std::string link;                       ///< to the host, as it runs now: "32.0 GT/s PCIe x16"; empty: not known
  std::string driver;                     ///< the newest CUDA that the driver supports: "13.0"; empty on the host
  std::uint64_t total_bytes = 0;          ///< of its memory, by whatever program it is used
  std::uint64_t free_bytes = 0;           ///< of that, what nobody uses, other programs included; at most 10 ms old
  std::vector<hardware_peer> peers = {};  ///< the other GPUs that this program may use
};

/// One of the lanes on which the worker that serves does several things at the same time.
struct lane_statistics {
  lane_purpose purpose = lane_purpose::compute;
  std::int32_t priority = 0;    ///< of its stream, as the driver counts: what is less goes first; 0 on the host
  std::uint64_t completed = 0;  ///< requests, since this worker serves
};

/// An engine that a worker has loaded.
struct engine_info {
  std::string library;  ///< "blas"
  std::string backend;  ///< "host", "cuda"
  std::string version;  ///< of the vendor's library, in its own words: "OpenBLAS 0.3.21"
};

/// True figures of a device at one moment.
struct device_statistics {
  std::string name;
  std::string engine;
  std::uint32_t ordinal = 0;  ///< which of the engine's devices
  device_state state = device_state::starting;
  std::uint64_t generation = 0;
  device_hardware hardware;
  memory_statistics memory;       ///< device memory that this device may hand out
  memory_statistics host_memory;  ///< host_buffer, staging, recipes of programs, and what varies in size in requests
  std::vector<lane_statistics> lanes;  ///< empty until a worker serves
  std::uint32_t depth = 0;             ///< requests without an answer
  std::uint32_t capacity = 0;          ///< of the mailbox
  std::uint64_t completed = 0;         ///< requests the worker has finished, well or not
  std::uint64_t failed = 0;            ///< of those, the ones that failed
  std::vector<engine_info> engines;    ///< loaded at the start; empty until a worker was ready
  int worker_pid = 0;             ///< 0 until the worker is there (await `started()` first), and when it is a thread
  std::vector<int> standby_pids;  ///< of workers that could take over now
  std::uint64_t faults = 0;       ///< workers that served and had to be replaced
  std::uint64_t quarantined = 0;  ///< kinds of requests that are refused now, with data that brought workers down
  std::vector<peer_statistics> peers = {};  ///< devices that this one has copied from
};

}  // namespace troupe
