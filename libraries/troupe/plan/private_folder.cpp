// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <troupe/base/files/own_folders.hpp>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/plan/private_folder.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace troupe::plan {
namespace {

// A prefix that no other program uses.
constexpr const char* folder_prefix = ".troupe-jit.";

bool is_at(const std::string& path, const file_descriptor& folder) {
  struct stat named{}, held{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(folder.get(), &held) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev && held.st_uid == ::geteuid();
}

file_descriptor open_folder(const std::string& path) {
  return file_descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool lock(const file_descriptor& folder) { return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0; }

void remove_stale_folders(const std::string& parent) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(parent, ignored), end; !ignored && at != end; at.increment(ignored)) {
    if (!at->path().filename().string().starts_with(folder_prefix)) continue;
    std::error_code failed;
    const file_descriptor folder = open_folder(at->path());
    if (folder && lock(folder) && is_at(at->path(), folder)) std::filesystem::remove_all(at->path(), failed);
  }
}

}  // namespace

result<private_folder> private_folder::make() {
  const std::string parent = temporary_folder();
  remove_stale_folders(parent);
  while (true) {
    std::string path = parent + "/" + folder_prefix + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
      return error_of_errno("jit", "making a folder for the compiler, " + path + " (TMPDIR sets its parent),");
    file_descriptor folder = open_folder(path);
    if (!folder && errno != ENOENT) return error_of_errno("jit", "opening a folder for the compiler, " + path + ",");
    // On a file system without locks, `lock` fails with another error, and no process removes the folder.
    const bool taken = folder && !lock(folder) && errno == EWOULDBLOCK;
    if (folder && !taken && is_at(path, folder)) return private_folder(std::move(path), std::move(folder));
    // Another process removed the folder before this one locked it: try again.
  }
}

private_folder::~private_folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace troupe::plan
