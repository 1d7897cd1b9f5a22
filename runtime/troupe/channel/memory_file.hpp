// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

/// Memory with a file descriptor (memfd) that can be sent to another process and mapped there. Its size is sealed, so
/// that no holder of a descriptor can truncate it under a mapping. Reads as zeros until written.
class memory_file {
 public:
  memory_file() noexcept = default;
  /// `name` is what /proc shows. `bytes` is rounded up to whole pages.
  static result<memory_file> create(const char* name, std::size_t bytes);
  /// Creates a file that other processes may only read: map it for writing, then call `end_writing` before the
  /// descriptor is passed on.
  static result<memory_file> create_for_readers(const char* name, std::size_t bytes);
  /// Forbids further writable mappings. Existing ones stay.
  result<void> end_writing() const;
  /// Takes a descriptor that was received. Fails unless it is a memory file of sealed size and at least `at_least`
  /// bytes.
  static result<memory_file> open(file_descriptor fd, std::size_t at_least = 1);

  /// Holds memory of another kind, a GPU's, whose descriptor can be passed on. It cannot be mapped here.
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
