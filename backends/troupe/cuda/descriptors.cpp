// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <troupe/cuda/descriptors.hpp>

namespace troupe::cuda {

// Descriptors of GPU memory refer to character devices of the driver.
std::string_view kind_if_not_gpu_memory(int descriptor) noexcept {
  constexpr unsigned memory_devices = 1;  // the major number of /dev/zero, /dev/null …
  struct stat s{};
  if (::fstat(descriptor, &s) != 0) return "nothing that is open";
  switch (s.st_mode & S_IFMT) {
    case S_IFREG:
      return "a file, or memory of the host";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFBLK:
      return "a disk";
    case S_IFCHR:
      return major(s.st_rdev) == memory_devices ? "a device like /dev/zero" : "";
    default:
      return "";
  }
}

}  // namespace troupe::cuda
