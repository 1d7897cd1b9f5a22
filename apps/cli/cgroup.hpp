// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::apps {

/// The limits that control groups (of containers or services) impose on this process.
struct cgroup_limits {
  std::optional<double> cores;
  std::optional<std::uint64_t> memory_bytes;
};

/// Returns the lowest limits of the process's groups and all their ancestors, in version 2 and version 1. `membership`
/// is the content of /proc/self/cgroup, `mount` the folder of the groups: /sys/fs/cgroup.
cgroup_limits read_cgroup_limits(std::string_view membership, const std::string& mount);

}  // namespace troupe::apps
