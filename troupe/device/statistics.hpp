// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/state.hpp>
#include <troupe/memory/statistics.hpp>
#include <vector>

namespace troupe {

/// True figures of a device at one moment.
struct device_statistics {
  std::string name;
  std::string engine;
  device_state state = device_state::starting;
  std::uint64_t generation = 0;
  memory_statistics memory;       ///< device memory
  memory_statistics host_memory;  ///< host_buffer, staging, recipes of programs, and what varies in size in requests
  std::uint32_t depth = 0;        ///< requests without an answer
  std::uint32_t capacity = 0;     ///< of the mailbox
  std::uint64_t completed = 0;    ///< requests the worker has finished, well or not
  std::uint64_t failed = 0;       ///< of those, the ones that failed
  std::string engines;            ///< "library backend version", one line per engine loaded at the start
  int worker_pid = 0;             ///< 0 until the worker is there (await `started()` first), and when it is a thread
  std::vector<int> standby_pids;  ///< of workers that could take over now
  std::uint64_t faults = 0;       ///< workers that served and had to be replaced
  std::uint64_t quarantined = 0;  ///< kinds of requests that are refused because they brought workers down
};

}  // namespace troupe
