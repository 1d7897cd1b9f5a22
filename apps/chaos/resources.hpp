// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chaos {

/// The resources of this process that could leak.
struct resources {
  int processes = 0;  ///< children, including dead ones that are not reaped
  int threads = 0;
  int descriptors = 0;
  int memory_files = 0;  ///< mappings of memory files

  static resources now();
  /// Describes by how much this exceeds `before`: "2 processes, 1 descriptor". Empty if it does not.
  std::string beyond(const resources& before) const;
  /// Does the same for resources that stay: waits briefly for threads that are about to end.
  static std::string left_beyond(const resources& before);
};

/// A private folder for temporary files and caches. While it exists, TMPDIR and TROUPE_CACHE point to it, for the
/// workers of this process. The destructor removes it and restores the variables. Only one may exist at a time, and no
/// other thread may read the environment while it is made or destroyed.
class private_folder {
 public:
  private_folder();
  ~private_folder();
  private_folder(const private_folder&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string cache() const { return path_ + "/cache"; }
  /// Returns the temporary files that still exist. There must be none after everything has ended.
  std::vector<std::string> temporary_files() const;

 private:
  std::string path_;
  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

}  // namespace chaos
