// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/memory/segment_pools.hpp>

namespace troupe {

/// The blocks of a device's memory that are read-only, and those that may not become so because others can write them.
class block_seals {
 public:
  /// `lock` is that of the device's memory.
  block_seals(const memory_owner& memory, const std::atomic<std::uint64_t>& generation, segment_pools& pools,
              std::mutex& lock) noexcept
      : memory_(memory), generation_(generation), pools_(pools), lock_(lock) {}

  /// The worker's task in sealing or unsealing a block.
  struct request {
    std::uint64_t bytes;   ///< from the block's address on; 0: nothing
    std::uint32_t number;  ///< to be passed to `end`
  };
  /// Begins to seal `all`: from now on no request may write it. Fails unless it is the whole of a sealable block.
  result<request> begin(const memory_range& all);
  /// Ends sealing: the worker has sealed the block (`done`), or never will. Ignored if the block was unsealed
  /// meanwhile. `by` is that of segment_source::protect.
  void end(block& b, std::uint32_t number, bool done, std::uint32_t by = 0) noexcept;
  /// Begins to unseal `all`: from now on a fault may change it like any other memory.
  result<request> begin_unseal(const memory_range& all);
  /// Ends unsealing: the request is in the mailbox with this ticket, so that later writers come after it. If the
  /// ticket is 0, the request was refused, and nothing has changed.
  void end_unseal(block& b, std::uint64_t ticket, std::uint32_t by = 0) noexcept;
  /// Makes the block writable in the next worker, because the request to unseal it did not run to its end.
  void unseal_was_lost(block& b) noexcept;

  /// Notes that a descriptor of the block's memory is given out, through which other programs can write the block for
  /// its whole life: it can no longer be sealed. Fails if it is sealed or being sealed, or if its segment has other
  /// blocks that may be sealed.
  result<void> begin_export(block& b);
  /// Notes that this program gets an address through which it can write the block itself. Until that is released, the
  /// block cannot be sealed. Returns false if it is sealed or being sealed: then the address must be read-only.
  bool begin_address(block& b) noexcept;
  void end_address(block& b) noexcept;

  /// Changes the protection in all workers, if it is not as required. Requires the lock.
  void protect(owned_block& b, bool read_only, std::uint32_t by = 0) noexcept;
  /// Requires the lock.
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
