// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <troupe/protocol/control.hpp>
#include <troupe/worker/plugins/placed_memory.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <vector>

namespace troupe {

/// The application's memory in a worker, at the addresses that the application chose. With a platform, the lower
/// addresses are for the device's own memory, and host memory is pinned. Not thread-safe.
class worker_memory {
 public:
  /// `gpu` is null on the host. `host` is the range of addresses for the application's host memory.
  worker_memory(platform* gpu, address_reservation host) noexcept : gpu_(gpu), host_(std::move(host)) {}
  worker_memory(const worker_memory&) = delete;
  ~worker_memory();

  /// Maps a range from its file, the only descriptor in `fds`.
  result<void> map(const protocol::memory_place& place, std::vector<file_descriptor> fds);
  void unmap(std::uint64_t address);
  /// Makes a range read-only or writable, or all ranges of the list in the attached file.
  result<void> protect(const protocol::memory_place& place, std::vector<file_descriptor> fds);

 private:
  bool is_device_memory(std::uint64_t address) const noexcept { return gpu_ != nullptr && address < host_.base(); }
  result<void> protect(std::uint64_t address, std::uint64_t bytes, map_access access);

  platform* gpu_;
  placed_memory host_;
};

}  // namespace troupe
