// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <troupe/base/linux/own_descriptors.hpp>

#include <cerrno>
#include <utility>

namespace troupe {

file_descriptor above(int number, file_descriptor fd) noexcept {
  if (!fd || fd.get() > number) return fd;
  file_descriptor moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, number + 1));
  const int why = errno;
  fd.reset();
  errno = why;
  return moved;
}

file_descriptor above_standard(file_descriptor fd) noexcept { return above(STDERR_FILENO, std::move(fd)); }

bool is_inherited(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

file_descriptor create_in_memory(const char* name) noexcept {
#ifndef MFD_NOEXEC_SEAL
  constexpr unsigned MFD_NOEXEC_SEAL = 8;
#endif
  constexpr unsigned usual = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = ::memfd_create(name, usual | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, usual);  // Linux before 6.3
  return above_standard(file_descriptor(fd));
}

}  // namespace troupe
