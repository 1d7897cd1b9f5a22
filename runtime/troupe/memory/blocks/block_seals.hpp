// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/memory/blocks/segment_pools.hpp>

namespace troupe {

/// The blocks of a device's memory that are sealed (read-only in all workers), and those that cannot be sealed because
/// others can write them.
class block_seals {
 public:
  /// `lock` is the lock of the device's memory.
  block_seals(const memory_owner& memory, const std::atomic<std::uint64_t>& generation, segment_pools& pools,
              std::mutex& lock) noexcept
      : memory_(memory), generation_(generation), pools_(pools), lock_(lock) {}

  /// The bytes that the worker must seal or unseal.
  struct request {
    std::uint64_t bytes;   ///< from the block's address on; 0: nothing to do
    std::uint32_t number;  ///< to be passed to `end`
  };
  /// Begins to seal the buffer: from now on no request may write it. Fails unless `all` is the whole of a sealable
  /// block.
  result<request> begin(const memory_range& all);
  /// Ends sealing. If `done`, the worker has sealed the block, otherwise it never will. Ignored if the block was
  /// unsealed in the meantime. `by` is the worker that has changed its own pages; 0: none.
  void end(block& b, std::uint32_t number, bool done, std::uint32_t by = 0) noexcept;
  /// Begins to unseal the buffer: from now on a fault makes it stale like any other memory.
  result<request> begin_unseal(const memory_range& all);
  /// Ends unsealing. With a ticket, the request to unseal is in the mailbox at that place, so that later writers run
  /// after it. If the ticket is 0, the request was refused, and the block keeps its former state.
  void end_unseal(block& b, std::uint64_t ticket, std::uint32_t by = 0) noexcept;
  /// Makes the block writable in the next worker, because the request to unseal it was lost with its worker.
  void unseal_was_lost(block& b) noexcept;

  /// Notes that the application gets a descriptor of the block's memory. Other programs can write the block through it
  /// for the block's whole life, so it can no longer be sealed. Fails if the block is sealed or being sealed, or if its
  /// segment has other blocks that may be sealed.
  result<void> begin_export(block& b);
  /// Notes that this program gets an address at which it can write the block. Until that address is released, the
  /// block cannot be sealed. Returns false if the block is sealed or being sealed: then the address must be read-only.
  bool begin_address(block& b) noexcept;
  void end_address(block& b) noexcept;

  /// Makes the block read-only or writable in all workers, if it is not so already. The caller must hold the lock of
  /// the device's memory.
  void protect(owned_block& b, bool read_only, std::uint32_t by = 0) noexcept;
  /// Returns the number of sealed bytes. The caller must hold the lock of the device's memory.
  std::uint64_t sealed_bytes() const noexcept { return sealed_bytes_; }

 private:
  result<owned_block*> whole(const memory_range& all, const char* what) const;

  const memory_owner& memory_;
  const std::atomic<std::uint64_t>& generation_;
  segment_pools& pools_;
  std::mutex& lock_;
  std::uint64_t sealed_bytes_ = 0;
};

}  // namespace troupe
