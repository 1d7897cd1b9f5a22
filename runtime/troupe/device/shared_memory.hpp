// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/base/containers/placed.hpp>
#include <troupe/base/linux/file_descriptor.hpp>
#include <utility>

namespace troupe {

/// How memory with a descriptor is opened.
enum class memory_form : std::uint8_t {
  file,  ///< mmap, for a memfd whose size is sealed: memory of the host engine, and every host_buffer
  cuda,  ///< cuMemImportFromShareableHandle with CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, cuMemMap, cuMemSetAccess
};

/// The descriptor in `shared_memory`, which is its only owner: see `placed`.
class memory_descriptor {
 public:
  memory_descriptor() noexcept = default;
  memory_descriptor(file_descriptor fd) : fd_(std::move(fd)) {}

  int get() const noexcept { return fd_->get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(*fd_); }
  /// Passes the descriptor to the caller.
  file_descriptor take() && {
    placed<file_descriptor> out(std::move(fd_));
    return std::move(*out);
  }

 private:
  placed<file_descriptor> fd_;
};

/// Memory that several programs can open. Send the descriptor to another process over a Unix socket (SCM_RIGHTS), or
/// use it in this one.
struct shared_memory {
  memory_descriptor descriptor;
  memory_form form = memory_form::file;
  std::uint64_t offset_bytes = 0;      ///< offset of the buffer in the memory of the descriptor
  std::uint64_t bytes = 0;             ///< bytes of the buffer
  std::uint64_t allocation_bytes = 0;  ///< bytes of all memory of the descriptor, which cuMemMap needs
};

/// Memory of a device that this process can address.
struct addressed_memory {
  std::byte* data = nullptr;  ///< an address on a GPU if `on_gpu` is true
  bool on_gpu = false;
  std::int32_t ordinal = 0;  ///< number of that GPU
  bool read_only = false;    ///< true if the buffer is sealed
  /// Must live as long as `data` is used. On a GPU, and for managed memory, the device must stay open too, because
  /// `data` is its worker's address. On the host engine, a writable buffer cannot be sealed while this exists.
  std::shared_ptr<const void> keep;
};

}  // namespace troupe
