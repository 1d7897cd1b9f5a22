// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <troupe/base/own_descriptors.hpp>

#include <cerrno>

namespace troupe {

file_descriptor above_standard(file_descriptor fd) noexcept {
  if (!fd || fd.get() > STDERR_FILENO) return fd;
  file_descriptor moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const int why = errno;
  fd.reset();
  errno = why;
  return moved;
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
