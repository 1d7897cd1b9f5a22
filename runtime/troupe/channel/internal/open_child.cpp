// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/channel/internal/open_child.hpp>

#include <cerrno>

namespace troupe {

file_descriptor open_child(pid_t pid) noexcept {
  constexpr auto by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD, which some C libraries do not define
  file_descriptor child = above_standard(file_descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  if (!child) return child;
  siginfo_t info;
  if (::waitid(by_pidfd, static_cast<id_t>(child.get()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ::getpgid(pid) == pid)
    return child;
  child.reset();
  errno = ESRCH;
  return child;
}

}  // namespace troupe
