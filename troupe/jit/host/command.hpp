// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe::jit {

/// A folder of this process's own that goes, with all that is in it, when the object does. A process that is killed
/// leaves it: it is locked as long as its process lives, and whoever makes the next one removes those that are not.
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

/// One run of a compiler.
struct command {
  std::vector<std::string> line;  ///< the program's path, and its arguments
  std::string folder;             ///< removed should this process die meanwhile; its temporary files go there
  std::string place = ".";        ///< in that folder: where it runs
  std::string output = {};        ///< a new file for its standard output, seen from there; empty: among its messages
  std::int64_t deadline_ns = INT64_MAX;
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< address space of each of its processes
  std::uint64_t file_bytes = std::uint64_t{1} << 30;    ///< of each file that it writes
  std::size_t message_bytes = 256 << 10;                ///< as much is kept of its messages
};

struct command_outcome {
  int exit_code = 0;  ///< 128 and the signal's number when one killed it
  bool timed_out = false;
  std::string messages;         ///< standard error; as UTF-8 and without control characters
  std::uint64_t cut_bytes = 0;  ///< how many more there were
};

/// Runs a program and waits for its end. It and its children get no descriptors, no input and an environment of a few
/// names; they are killed at the deadline, and when this process dies, however that happens. Fails only when the
/// program cannot be started. `keeper` is the path of troupe-keeper.
result<command_outcome> run_command(const std::string& keeper, const command& c);

}  // namespace troupe::jit
