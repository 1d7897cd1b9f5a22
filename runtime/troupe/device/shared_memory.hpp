// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/placed.hpp>
#include <utility>

namespace troupe {

/// The way in which memory with a descriptor is opened.
enum class memory_form : std::uint8_t {
  file,  ///< mmap: a memfd whose size is sealed; of the host engine, and of every host_buffer
  cuda,  ///< cuMemImportFromShareableHandle with CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, cuMemMap, cuMemSetAccess
};

/// A descriptor of its own as a field of `shared_memory`: see `placed`.
class memory_descriptor {
 public:
  memory_descriptor() noexcept = default;
  memory_descriptor(file_descriptor fd) : fd_(std::move(fd)) {}

  int get() const noexcept { return fd_->get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(*fd_); }
  /// Gives it to the caller.
  file_descriptor take() && {
    placed<file_descriptor> out(std::move(fd_));
    return std::move(*out);
  }

 private:
  placed<file_descriptor> fd_;
};

/// Memory that several programs can open. The descriptor goes from one process to another over a Unix socket
/// (SCM_RIGHTS), or stays within one.
struct shared_memory {
  memory_descriptor descriptor;
  memory_form form = memory_form::file;
  std::uint64_t offset_bytes = 0;      ///< where in it the buffer begins
  std::uint64_t bytes = 0;             ///< of the buffer
  std::uint64_t allocation_bytes = 0;  ///< of all that the descriptor stands for, as cuMemMap must be told
};

/// Memory of a device that this process can address.
struct addressed_memory {
  std::byte* data = nullptr;  ///< on a GPU, where `on_gpu`
  bool on_gpu = false;
  std::int32_t ordinal = 0;  ///< of that GPU
  bool read_only = false;    ///< it is sealed
  /// What must live as long as `data` is used. On a GPU, and for managed memory, the device must stay open, too: there
  /// `data` is where its worker has the memory. On the host engine a buffer that can be written there is not sealed
  /// before this has gone.
  std::shared_ptr<const void> keep;
};

}  // namespace troupe
