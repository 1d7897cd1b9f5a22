// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/channel/process/own_output.hpp>

namespace troupe {

file_descriptor open_output_again(int fd) {
  struct stat s{};
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || !is_inherited(fd) || (flags & O_ACCMODE) == O_RDONLY || ::fstat(fd, &s) != 0) return {};
  if (!S_ISFIFO(s.st_mode) && !S_ISCHR(s.st_mode) && !(S_ISREG(s.st_mode) && (flags & O_APPEND) != 0)) return {};
  // Opened without blocking, because a pipe may have no reader and a terminal may wait for a connection.
  file_descriptor again = above_standard(file_descriptor(
      ::open(cat("/proc/self/fd/", fd).c_str(), O_WRONLY | (flags & O_APPEND) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)));
  if (again && ::fcntl(again.get(), F_SETFL, flags & O_APPEND) != 0) again.reset();
  return again;
}

}  // namespace troupe
