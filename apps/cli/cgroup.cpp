// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/cli/cgroup.hpp>
#include <fstream>
#include <sstream>

namespace troupe::apps {
namespace {

template <class T>
void narrow(std::optional<T>& limit, T found) {
  limit = limit ? std::min(*limit, found) : found;
}

template <class... T>
bool read(const std::string& file, T&... values) {
  std::ifstream in(file);
  return static_cast<bool>((in >> ... >> values));
}

// Parses "max 100000" or "150000 100000": microseconds of processor time, and the period in microseconds.
void read_cpu_max(const std::string& folder, cgroup_limits& limits) {
  std::string quota;
  double period = 0;
  if (read(folder + "/cpu.max", quota, period) && quota != "max" && period > 0)
    narrow(limits.cores, std::strtod(quota.c_str(), nullptr) / period);
}

void read_cpu_quota(const std::string& folder, cgroup_limits& limits) {
  double quota = -1, period = 0;
  if (read(folder + "/cpu.cfs_quota_us", quota) && read(folder + "/cpu.cfs_period_us", period) && quota > 0 &&
      period > 0)
    narrow(limits.cores, quota / period);
}

// The file contains a number, or "max". Instead of "max", version 1 writes a number that is larger than any memory.
void read_memory(const std::string& file, cgroup_limits& limits) {
  std::uint64_t bytes = 0;
  if (read(file, bytes) && bytes < (std::uint64_t{1} << 60)) narrow(limits.memory_bytes, bytes);
}

// Calls f(folder) for a group and all its ancestors. In a container, the path may be the host's and not visible; the
// root of the mount is then the container's own group.
template <class F>
void upwards(const std::string& mount, std::string path, F&& f) {
  for (;;) {
    f(mount + path);
    if (path.empty() || path == "/") return;
    path.resize(path.rfind('/'));
  }
}

bool lists(const std::string& controllers, std::string_view name) {
  std::istringstream in(controllers);
  for (std::string one; std::getline(in, one, ',');)
    if (one == name) return true;
  return false;
}

}  // namespace

cgroup_limits read_cgroup_limits(std::string_view membership, const std::string& mount) {
  cgroup_limits limits;
  std::istringstream lines{std::string(membership)};
  for (std::string line; std::getline(lines, line);) {  // "0::/path" (version 2) or "4:cpu,cpuacct:/path" (version 1)
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (path.empty() || path.front() != '/') continue;
    if (controllers.empty())
      upwards(mount, path, [&](const std::string& folder) {
        read_cpu_max(folder, limits);
        read_memory(folder + "/memory.max", limits);
      });
    if (lists(controllers, "cpu"))
      upwards(mount + "/cpu", path, [&](const std::string& folder) { read_cpu_quota(folder, limits); });
    if (lists(controllers, "memory"))
      upwards(mount + "/memory", path,
              [&](const std::string& folder) { read_memory(folder + "/memory.limit_in_bytes", limits); });
  }
  return limits;
}

}  // namespace troupe::apps
