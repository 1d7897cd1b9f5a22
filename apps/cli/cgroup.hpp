// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::apps {

/// The limits that control groups (containers, services) impose on this process.
struct cgroup_limits {
  std::optional<double> cores;
  std::optional<std::uint64_t> memory_bytes;
};

/// Returns the narrowest limits on the way from the process's groups to the root, of version 2 and of version 1.
/// `membership` is the text of /proc/self/cgroup, `mount` the folder of the groups: /sys/fs/cgroup.
cgroup_limits read_cgroup_limits(std::string_view membership, const std::string& mount);

}  // namespace troupe::apps
