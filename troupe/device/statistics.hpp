// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/device/state.hpp>
#include <troupe/memory/statistics.hpp>

namespace troupe {

/// True figures of a device at one moment.
struct device_statistics {
  std::string name;
  std::string engine;
  device_state state = device_state::starting;
  std::uint64_t generation = 0;
  memory_statistics memory;       ///< device memory
  memory_statistics host_memory;  ///< host_buffer, staging, and what varies in size in requests
  std::uint32_t depth = 0;        ///< requests without an answer
  std::uint32_t capacity = 0;     ///< of the mailbox
  std::uint64_t completed = 0;    ///< requests the worker has finished, well or not
  std::uint64_t failed = 0;       ///< of those, the ones that failed
  std::string engines;            ///< "library backend version", one line per engine loaded at the start
  int worker_pid = 0;             ///< 0 until the worker is there (await `ready()` first), and when it is a thread
};

}  // namespace troupe
