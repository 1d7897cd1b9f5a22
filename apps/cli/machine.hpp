// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apps/cli/cgroup.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace troupe::apps {

/// What of the machine matters to Troupe.
struct machine_report {
  std::string processor;
  int cores = 0;          ///< of the machine
  int allowed_cores = 0;  ///< this process may run on
  cgroup_limits limits;
  std::vector<std::string> vectors;  ///< extensions for computing with vectors, as /proc/cpuinfo names them
  std::uint64_t memory_bytes = 0, available_bytes = 0;
  std::optional<std::uint64_t> locked_memory_bytes;  ///< none: no limit
  std::uint64_t open_files = 0, most_open_files = 0;
  std::string kernel;
  bool kernel_is_new_enough = false;

  double usable_cores() const noexcept;
};

machine_report look_at_machine();

/// The oldest kernel that has all that workers need.
inline constexpr int oldest_kernel_major = 5, oldest_kernel_minor = 4;

}  // namespace troupe::apps
