// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/cgroup.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::apps {

/// The properties of this machine that affect Troupe.
struct machine_report {
  std::string processor;
  int cores = 0;          ///< of the machine
  int allowed_cores = 0;  ///< cores on which this process may run
  cgroup_limits limits;
  std::vector<std::string> vectors;  ///< vector extensions, with their names in /proc/cpuinfo
  std::uint64_t memory_bytes = 0, available_bytes = 0;
  std::optional<std::uint64_t> locked_memory_bytes;  ///< empty if there is no limit
  std::uint64_t open_files = 0, most_open_files = 0;
  std::string kernel;
  bool kernel_is_new_enough = false;

  double usable_cores() const noexcept;
};

machine_report look_at_machine();

/// The oldest kernel version that has everything that workers need.
inline constexpr int oldest_kernel_major = 5, oldest_kernel_minor = 4;

}  // namespace troupe::apps
