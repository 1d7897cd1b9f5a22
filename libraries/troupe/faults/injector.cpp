// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/faults/injector.hpp>

namespace troupe::faults {
namespace {

constexpr auto by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD, which some C libraries lack

bool is_worker_of(const device& d, int pid) {
  const device_statistics now = d.statistics();
  return pid == now.worker_pid || std::count(now.standby_pids.begin(), now.standby_pids.end(), pid) > 0;
}

// A pid may belong to another process by the time it is used. If it is a worker's after the pidfd was opened, it was
// the worker's when the pidfd was opened, too.
bool hit(const device& d, int pid, int signal) {
  const file_descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!handle) return false;
  if (!is_worker_of(d, pid)) return false;
  // Skips children of other processes and processes that have ended: they are not this device's workers.
  siginfo_t ended{};
  if (::waitid(by_pidfd, static_cast<id_t>(handle.get()), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
  if (ended.si_pid != 0) return false;
  return ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) == 0;
}

}  // namespace

int injector::hit(who whom, std::size_t number, int signal) const {
  const device_statistics now = device_.statistics();
  int count = 0;
  if (whom != who::stands_by && now.worker_pid) count += faults::hit(device_, *now.worker_pid, signal);
  for (std::size_t i = 0; i < now.standby_pids.size(); ++i)
    if (whom == who::all || (whom == who::stands_by && i == number))
      count += faults::hit(device_, now.standby_pids[i], signal);
  return count;
}

}  // namespace troupe::faults
