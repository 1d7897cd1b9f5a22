// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

/// Memory with a file descriptor (memfd) that can be sent to another process and mapped there. Its size is sealed: a
/// process with a descriptor cannot truncate the file under a mapping. Its content is zeros until it is written.
class memory_file {
 public:
  memory_file() noexcept = default;
  /// Makes a file of `bytes`, rounded up to whole pages. /proc shows `name`.
  static result<memory_file> create(const char* name, std::size_t bytes);
  /// Makes a file that other processes can only read: map it for writing, then call `end_writing` before you pass on
  /// the descriptor.
  static result<memory_file> create_for_readers(const char* name, std::size_t bytes);
  /// Forbids further writable mappings. Existing mappings stay writable.
  result<void> end_writing() const;
  /// Takes over a received descriptor. Fails unless it is a memory file of sealed size with at least `at_least` bytes.
  static result<memory_file> open(file_descriptor fd, std::size_t at_least = 1);

  /// Holds memory of a GPU, whose descriptor can be passed on. It cannot be mapped in this process.
  static memory_file foreign(file_descriptor fd, std::size_t bytes) noexcept { return {std::move(fd), bytes}; }

  int fd() const noexcept { return fd_.get(); }
  std::size_t size() const noexcept { return size_; }

 private:
  static result<memory_file> create(const char* name, std::size_t bytes, int seals);
  memory_file(file_descriptor fd, std::size_t size) noexcept : fd_(std::move(fd)), size_(size) {}

  file_descriptor fd_;
  std::size_t size_ = 0;
};

}  // namespace troupe
