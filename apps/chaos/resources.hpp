// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chaos {

/// What this process holds that could leak.
struct resources {
  int processes = 0;  ///< children, dead ones that nobody has waited for as well
  int threads = 0;
  int descriptors = 0;
  int memory_files = 0;  ///< mappings of memory files

  static resources now();
  /// What there is more of than before: "2 processes, 1 descriptor". Empty when there is nothing.
  std::string beyond(const resources& before) const;
  /// The same of what stays: waits a little for threads that are just ending.
  static std::string left_beyond(const resources& before);
};

/// A folder of its own for temporary files and caches, in which workers of this process put theirs: TMPDIR and
/// TROUPE_CACHE. Removed in the end, when these are what they were. One at a time, while no other thread runs that
/// reads the environment.
class private_folder {
 public:
  private_folder();
  ~private_folder();
  private_folder(const private_folder&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string cache() const { return path_ + "/cache"; }
  /// Temporary files that are still there; none when all has ended.
  std::vector<std::string> temporary_files() const;

 private:
  std::string path_;
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

}  // namespace chaos
