// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/channel/internal/reserved_pages.hpp>

#include <cerrno>

namespace troupe {

bool is_overcommitting_off(const char* file) noexcept {
  constexpr char never = '2';
  const file_descriptor fd(::open(file, O_RDONLY | O_CLOEXEC));
  char mode = 0;
  return fd && ::read(fd.get(), &mode, 1) == 1 && mode == never;
}

int reserve_pages(int fd, std::size_t bytes) noexcept {
  while (::fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace troupe
