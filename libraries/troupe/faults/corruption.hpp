// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/faults/through.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/request/checker.hpp>

/// Faults that damage memory. The worker survives them unless it needs the memory that they overwrite.
namespace troupe::faults {

/// Writes to memory that it does not declare, as a kernel with a wrong address does: the device does not order the
/// write, and marks nothing as stale. Succeeds if the worker survives it.
struct wild_write {
  std::uint64_t address;  ///< address in the worker; see `over`
  extent bytes;
  std::uint32_t pattern = 0xdeadbeef;
  optional_memory through = {};
  TROUPE_REQUEST("faults.wild_write", address, bytes, pattern, through)
  void check(checker& c) const;

  /// Returns a request that writes over all of `victim`, which must outlive it.
  template <class T>
  static wild_write over(const buffer<T>& victim) {
    return {.address = victim.memory().address, .bytes = victim.memory().bytes};
  }
};

/// Overwrites all memory that the worker shares with the application, except for buffers, with random words, and
/// continues. Replies of requests that run at that moment are random, too.
struct garbage {
  std::uint64_t seed;
  optional_memory through = {};
  TROUPE_REQUEST("faults.garbage", seed, through)
  void check(checker&) const {}
};

}  // namespace troupe::faults
