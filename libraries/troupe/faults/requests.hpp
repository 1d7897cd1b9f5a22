// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/faults/corruption.hpp>
#include <troupe/faults/through.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/request_list.hpp>

/// A library actor that fails on purpose, for tests. Each request does in the worker what its name says, as a faulty
/// kernel or vendor library would. With isolation::thread, that happens in the application's process.
///
/// Each request has a field `through`: see `optional_memory`. `number` lets a caller make requests differ that are
/// otherwise equal.
namespace troupe::faults {

/// Writes to an unmapped address: SIGSEGV.
struct segmentation_fault {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.segmentation_fault", through, number)
  void check(checker&) const {}
};

/// Calls std::abort on its lane, as a failed assertion does: SIGABRT.
struct abort {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.abort", through, number)
  void check(checker&) const {}
};

/// Calls std::abort on one of the worker's helper threads, which do slow work such as compiling.
struct abort_in_helper {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.abort_in_helper", through, number)
  void check(checker&) const {}
};

/// Executes an illegal instruction: SIGILL.
struct illegal_instruction {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.illegal_instruction", through, number)
  void check(checker&) const {}
};

/// Divides by zero with traps enabled: SIGFPE.
struct floating_point_trap {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.floating_point_trap", through, number)
  void check(checker&) const {}
};

/// Ends the worker's process, as a library does that calls exit() on an error.
struct exit {
  optional_memory through = {};
  extent code = 1;  ///< 0 to 255
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.exit", through, code, number)
  void check(checker& c) const;
};

/// Calls itself until the stack overflows: SIGSEGV.
struct stack_overflow {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.stack_overflow", through, number)
  void check(checker&) const {}
};

/// Fails an assertion, in a kernel if the engine is a GPU's: SIGABRT.
struct failed_assertion {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.failed_assertion", through, number)
  void check(checker&) const {}
};

/// Writes beyond the memory that the threads of a block share: SIGSEGV.
struct shared_memory_overflow {
  optional_memory through = {};
  std::uint64_t number = 0;
  TROUPE_REQUEST("faults.shared_memory_overflow", through, number)
  void check(checker&) const {}
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
