// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <troupe/base/files/kept_file.hpp>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/try.hpp>

namespace troupe {

result<std::string> path_of_kept_file(const std::string& place, const std::string& domain) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc/self/fd", failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;  // a descriptor that another thread has closed
    const std::string target = std::filesystem::read_symlink(at->path(), gone);
    if (target == place + " (deleted)") return at->path().string();
  }
  auto now = TROUPE_TRY(open_trusted(place, domain));
  return std::move(now.path);
}

}  // namespace troupe
