// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sched.h>
#include <bench/system/placement.hpp>
#include <cstdlib>
#include <string>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

// Returns the cores on which this program was allowed to run when it started.
const cpu_set_t& all_cores() {
  static const cpu_set_t all = [] {
    cpu_set_t s;
    CPU_ZERO(&s);
    ::sched_getaffinity(0, sizeof s, &s);
    return s;
  }();
  return all;
}

// Returns the n-th of these cores, or the last one if there are fewer.
cpu_set_t core(int n) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && n >= 0; ++i) {
    if (!CPU_ISSET(i, &all_cores())) continue;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    --n;
  }
  return one;
}

int number_of(placement::where w) { return w == placement::where::two_cores ? 1 : 0; }

void place_process(int pid, const cpu_set_t& on) {
  DIR* threads = ::opendir((cat("/proc/", pid, "/task")).c_str());
  if (threads == nullptr) return;
  while (const dirent* e = ::readdir(threads))
    if (const int id = std::atoi(e->d_name); id > 0) ::sched_setaffinity(id, sizeof on, &on);
  ::closedir(threads);
}

}  // namespace

placement::placement(where others, std::vector<int> pids) : pids_(std::move(pids)) {
  const cpu_set_t ours = core(0), theirs = core(number_of(others));
  ::sched_setaffinity(0, sizeof ours, &ours);
  for (const int pid : pids_) place_process(pid, theirs);
}

placement::~placement() {
  ::sched_setaffinity(0, sizeof all_cores(), &all_cores());
  for (const int pid : pids_) place_process(pid, all_cores());
}

void placement::join_others(where others) noexcept {
  const cpu_set_t theirs = core(number_of(others));
  ::sched_setaffinity(0, sizeof theirs, &theirs);
}

}  // namespace troupe::bench
