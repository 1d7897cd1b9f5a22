// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/channel/memory_file.hpp>
#include <troupe/device/shared_memory.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <troupe/request/extent.hpp>

namespace troupe {

class completion;
class shared_segments;
class worker_pool;
struct device_board;

/// Exports, imports, adopts and maps memory that a device shares with other code. Thread-safe.
class memory_exchange {
 public:
  memory_exchange(device_board& board, const shared_segments& segments, worker_pool& workers,
                  completion& completion) noexcept;

  result<shared_memory> export_memory(const memory_range& r) const;
  result<memory_range> import_memory(shared_memory from, std::size_t element_bytes, std::size_t alignment);
  result<memory_range> adopt_memory(std::byte* data, extent bytes, std::size_t alignment,
                                    std::shared_ptr<const void> keep);
  result<addressed_memory> address_of(const memory_range& r) const;
  /// Returns the file that holds the buffer, and the buffer's offset in it. Error texts begin with `what`.
  result<std::pair<std::shared_ptr<const memory_file>, std::uint64_t>> file_of(const memory_range& r,
                                                                               const char* what) const;

  /// Allocates managed memory in the serving worker. Waits if no worker serves. See docs/managed-memory.md.
  result<memory_range> make_managed(std::uint64_t bytes, const memory_quota& quota);

 private:
  result<void> check_import(const shared_memory& from) const;
  result<void> try_to_open(const shared_memory& from);

  device_board& board_;
  const shared_segments& segments_;
  worker_pool& workers_;
  completion& completion_;
};

}  // namespace troupe
