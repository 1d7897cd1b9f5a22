// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/memory/segment_pools.hpp>

namespace troupe {

/// Which blocks of a device's memory are read-only, and which may not become so because others can write them.
class block_seals {
 public:
  /// `lock` is the memory's.
  block_seals(const memory_owner& memory, const std::atomic<std::uint64_t>& generation, segment_pools& pools,
              std::mutex& lock) noexcept
      : memory_(memory), generation_(generation), pools_(pools), lock_(lock) {}

  /// What a seal, or its end, covers in the worker.
  struct request {
    std::uint64_t bytes;   ///< from the block's address on; 0: there is nothing to do
    std::uint32_t number;  ///< for `end`
  };
  /// `all` is to be sealed: from now on nobody may write it. Refused unless it is all of a block that can be.
  result<request> begin(const memory_range& all);
  /// The worker has sealed it, or never will. Too late if it was unsealed meanwhile. `by`: see segment_source::protect.
  void end(block& b, std::uint32_t number, bool done, std::uint32_t by = 0) noexcept;
  /// From now on a fault takes it along like any other.
  result<request> begin_unseal(const memory_range& all);
  /// The request is in the mailbox, so that who writes later comes later; or it was refused (0), and nothing has
  /// changed.
  void end_unseal(block& b, std::uint64_t ticket, std::uint32_t by = 0) noexcept;
  /// It was not run, or not to its end: the next worker cannot rely on the one that was to do it.
  void unseal_was_lost(block& b) noexcept;

  /// A descriptor of memory with this block in it is given out, so that others may write it for as long as it lives. It
  /// cannot be sealed from now on; refused when it is, or is about to be, or when others that may be sealed lie in the
  /// same segment.
  result<void> begin_export(block& b);
  /// This program gets an address through which it can write the block, past all workers. Until it has let go of it,
  /// the block cannot be sealed. False: it is, or is about to be, so the address is to be for reading.
  bool begin_address(block& b) noexcept;
  void end_address(block& b) noexcept;

  /// With the lock. Where nothing is to be changed nobody is told.
  void protect(owned_block& b, bool read_only, std::uint32_t by = 0) noexcept;
  /// With the lock.
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
