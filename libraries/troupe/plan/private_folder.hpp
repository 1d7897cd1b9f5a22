// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>

namespace troupe::plan {

/// A folder of this process, which the destructor removes with its content. The folder is locked as long as the process
/// lives. If the process is killed, the folder remains until another process calls `make`, which removes all folders
/// that are not locked.
class private_folder {
 public:
  static result<private_folder> make();
  private_folder(private_folder&& o) noexcept : path_(std::move(o.path_)), lock_(std::move(o.lock_)) {
    o.path_.clear();
  }
  private_folder& operator=(private_folder&& o) noexcept {
    std::swap(path_, o.path_);
    std::swap(lock_, o.lock_);
    return *this;
  }
  ~private_folder();
  const std::string& path() const noexcept { return path_; }

 private:
  private_folder(std::string path, file_descriptor lock) noexcept : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  file_descriptor lock_;
};

}  // namespace troupe::plan
