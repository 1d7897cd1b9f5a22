// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/faults/through.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/request/checker.hpp>

/// Faults that damage memory. The worker survives them, unless it needs what they overwrite.
namespace troupe::faults {

/// Writes over memory that it says nothing about, as a kernel does that computes a wrong address: nothing is declared,
/// ordered, or marked stale. Its answer is that all went well, if it lives to give one.
struct wild_write {
  std::uint64_t address;  ///< where the worker has it; `over` knows
  extent bytes;
  std::uint32_t pattern = 0xdeadbeef;
  optional_memory through = {};
  using reply = void;
  TROUPE_REQUEST("faults.wild_write", address, bytes, pattern, through)
  void check(checker& c) const;

  /// One that writes over all of `victim`, which must live until the answer.
  template <class T>
  static wild_write over(const buffer<T>& victim) {
    return {.address = victim.memory().address, .bytes = victim.memory().bytes};
  }
};

/// Overwrites all memory that the worker shares with the application, but for buffers, with random words, and goes on
/// as if nothing had happened. Answers of requests that run at that moment are random as well.
struct garbage {
  std::uint64_t seed;
  optional_memory through = {};
  using reply = void;
  TROUPE_REQUEST("faults.garbage", seed, through)
  void check(checker&) const {}
};

}  // namespace troupe::faults
