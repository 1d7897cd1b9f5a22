// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

/// Memory with a file descriptor (memfd) that can be sent to another process and mapped there. Its size is sealed:
/// nobody, whoever holds a descriptor, can cut it off under a mapping. Reads as zeros until written.
class memory_file {
 public:
  /// `name` is what /proc shows. `bytes` is rounded up to whole pages.
  static result<memory_file> create(const char* name, std::size_t bytes);
  /// Takes a descriptor that came from elsewhere; refused unless it is a memory file of sealed size, `at_least` bytes
  /// long.
  static result<memory_file> open(file_descriptor fd, std::size_t at_least = 1);

  int fd() const noexcept { return fd_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  memory_file(file_descriptor fd, std::size_t size) noexcept : fd_(std::move(fd)), size_(size) {}

  file_descriptor fd_;
  std::size_t size_;
};

}  // namespace troupe
