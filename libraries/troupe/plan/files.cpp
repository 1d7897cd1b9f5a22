// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <troupe/base/linux/write_all.hpp>
#include <troupe/plan/files.hpp>

#include <cerrno>
#include <filesystem>

namespace troupe::plan {
std::optional<std::string> read_all(int fd, std::size_t bytes) {
  std::string out(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t n = ::read(fd, out.data() + have, bytes - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;  // the file became shorter after fstat: another process is writing it
    have += static_cast<std::size_t>(n);
  }
  return out;
}

std::optional<std::string> read_file(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe in place of a file would block.
  const file_descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat s{};
  if (!fd || ::fstat(fd.get(), &s) != 0) return std::nullopt;
  if (!S_ISREG(s.st_mode)) {
    errno = EINVAL;
    return std::nullopt;
  }
  return read_all(fd.get(), static_cast<std::size_t>(s.st_size));
}

bool write_file(const std::string& folder, const std::string& name, std::string_view bytes) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  const file_descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  return fd && write_all(fd.get(), bytes);
}

}  // namespace troupe::plan
