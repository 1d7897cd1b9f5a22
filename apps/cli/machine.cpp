// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <apps/cli/machine.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/key_values.hpp>

namespace troupe::apps {
namespace {

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string value_of(const std::string& text, std::string_view key) {
  return troupe::value_of(text, key, key_values::colon_between);
}

bool counts_for_vectors(std::string_view flag) {
  static constexpr std::string_view few[] = {"sse4_2", "fma", "f16c", "avx", "avx2", "avx_vnni"};
  return std::find(std::begin(few), std::end(few), flag) != std::end(few) || flag.starts_with("avx512") ||
         flag.starts_with("amx");
}

std::uint64_t kibibytes(const std::string& value) { return number_of(value) * 1024; }

}  // namespace

double machine_report::usable_cores() const noexcept {
  return limits.cores ? std::min<double>(*limits.cores, allowed_cores) : allowed_cores;
}

machine_report look_at_machine() {
  machine_report m;
  const std::string processors = content("/proc/cpuinfo"), memory = content("/proc/meminfo");
  m.processor = value_of(processors, "model name");
  std::istringstream flags(value_of(processors, "flags"));
  for (std::string flag; flags >> flag;)
    if (counts_for_vectors(flag)) m.vectors.push_back(flag);
  m.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  m.allowed_cores = usable_cores();
  m.limits = read_cgroup_limits(content("/proc/self/cgroup"), "/sys/fs/cgroup");
  m.memory_bytes = kibibytes(value_of(memory, "MemTotal"));
  m.available_bytes = kibibytes(value_of(memory, "MemAvailable"));
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    m.locked_memory_bytes = limit.rlim_cur;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) m.open_files = limit.rlim_cur, m.most_open_files = limit.rlim_max;
  utsname system{};
  ::uname(&system);
  m.kernel = system.release;
  int major = 0, minor = 0;
  std::sscanf(system.release, "%d.%d", &major, &minor);
  m.kernel_is_new_enough = std::pair(major, minor) >= std::pair(oldest_kernel_major, oldest_kernel_minor);
  return m;
}

}  // namespace troupe::apps
