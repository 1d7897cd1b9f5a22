// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/base/text/fixed_string.hpp>
#include <troupe/memory/buffer.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/operands/operand.hpp>
#include <troupe/request/request_list.hpp>

/// A library actor that fails on purpose, for tests. Each request does in the worker what its name says, as a faulty
/// kernel or vendor library would. With isolation::thread, that happens in the application's process.
///
/// Each request has a field `through`: see `optional_memory`. `number` lets a caller make requests differ that are
/// otherwise equal.
namespace troupe::faults {

/// Memory with which a fault is ordered: as if the fault read and wrote it, although it does not touch it. A fault can
/// thus be placed anywhere in a computation: after the request that computes `x`, and before the requests that read it.
using optional_memory = std::optional<inout<std::byte>>;

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

/// A fault without fields of its own.
template <fixed_string Name>
struct plain_fault {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST(static_text<fixed_string("faults.") + Name>, through, number)
  void check(checker&) const {}
};

/// Writes to an unmapped address: SIGSEGV.
using segmentation_fault = plain_fault<"segmentation_fault">;
/// Calls std::abort on its lane, as a failed assertion does: SIGABRT.
using abort = plain_fault<"abort">;
/// Calls std::abort on one of the worker's helper threads, which do slow work such as compiling.
using abort_in_helper = plain_fault<"abort_in_helper">;
/// Executes an illegal instruction: SIGILL.
using illegal_instruction = plain_fault<"illegal_instruction">;
/// Divides by zero with traps enabled: SIGFPE.
using floating_point_trap = plain_fault<"floating_point_trap">;
/// Calls itself until the stack overflows: SIGSEGV.
using stack_overflow = plain_fault<"stack_overflow">;
/// Fails an assertion, in a kernel if the engine is a GPU's: SIGABRT.
using failed_assertion = plain_fault<"failed_assertion">;
/// Writes beyond the memory that the threads of a block share: SIGSEGV.
using shared_memory_overflow = plain_fault<"shared_memory_overflow">;

/// Ends the worker's process, as a library does that calls exit() on an error.
struct exit {
  optional_memory through = {};
  extent code = 1;  ///< 0 to 255
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.exit", through, code, number)
  void check(checker& c) const;
};

/// Computes without end, or for `milliseconds`, after which it succeeds.
struct hang {
  optional_memory through = {};
  extent milliseconds = 0;  ///< 0: no end
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.hang", through, milliseconds, number)
  void check(checker& c) const;
};

/// Allocates and uses memory until an allocation fails or it has `most_bytes`; then aborts, like a program that cannot
/// continue without the memory. See device_options::worker_memory_limit.
struct exhaust_memory {
  optional_memory through = {};
  extent most_bytes = 256 << 20;
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.exhaust_memory", through, most_bytes, number)
  void check(checker& c) const;
};

using all_requests =
    request_list<segmentation_fault, abort, abort_in_helper, illegal_instruction, floating_point_trap, exit,
                 stack_overflow, failed_assertion, shared_memory_overflow, hang, exhaust_memory, wild_write, garbage>;

}  // namespace troupe::faults
