// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/faults/corruption.hpp>
#include <troupe/faults/through.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/request_list.hpp>

/// A library actor that breaks things, for tests: each request does in the worker what its name says, as a broken
/// kernel or vendor library would. With isolation::thread that is the application.
///
/// All take `through`: memory that they read and write as far as order is concerned (and leave alone), so that a fault
/// can be put anywhere into a computation: after what makes `x` and before what reads it. `number` is for callers who
/// want requests that are alike to differ.
namespace troupe::faults {

/// Writes to an address where no memory is: SIGSEGV.
struct segmentation_fault {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.segmentation_fault", through, number)
  void check(checker&) const {}
};

/// Calls std::abort on its lane, as a failed assertion does: SIGABRT.
struct abort {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.abort", through, number)
  void check(checker&) const {}
};

/// The same on one of the worker's helper threads, where slow work such as compiling is done.
struct abort_in_helper {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.abort_in_helper", through, number)
  void check(checker&) const {}
};

/// Executes what is no instruction: SIGILL.
struct illegal_instruction {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.illegal_instruction", through, number)
  void check(checker&) const {}
};

/// Divides by zero with traps on: SIGFPE.
struct floating_point_trap {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.floating_point_trap", through, number)
  void check(checker&) const {}
};

/// Ends the worker's process, as libraries do that call exit() when something does not please them.
struct exit {
  optional_memory through = {};
  extent code = 1;  ///< 0 to 255
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.exit", through, code, number)
  void check(checker& c) const;
};

/// Calls itself until the stack is used up: SIGSEGV.
struct stack_overflow {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.stack_overflow", through, number)
  void check(checker&) const {}
};

/// An assertion that does not hold, in a kernel where kernels have their own: SIGABRT.
struct failed_assertion {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.failed_assertion", through, number)
  void check(checker&) const {}
};

/// Writes behind the memory that the threads of a block share: SIGSEGV.
struct shared_memory_overflow {
  optional_memory through = {};
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.shared_memory_overflow", through, number)
  void check(checker&) const {}
};

/// Computes and never ends, or ends well after so many milliseconds.
struct hang {
  optional_memory through = {};
  extent milliseconds = 0;  ///< 0: for ever
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.hang", through, milliseconds, number)
  void check(checker& c) const;
};

/// Takes memory, and uses it, until it gets no more or has `most_bytes` of it; then it aborts, as a program does that
/// expected to get some. See device_options::worker_memory_limit.
struct exhaust_memory {
  optional_memory through = {};
  extent most_bytes = 256 << 20;
  std::uint64_t number = 0;
  using reply = void;
  TROUPE_REQUEST("faults.exhaust_memory", through, most_bytes, number)
  void check(checker& c) const;
};

using all_requests =
    request_list<segmentation_fault, abort, abort_in_helper, illegal_instruction, floating_point_trap, exit,
                 stack_overflow, failed_assertion, shared_memory_overflow, hang, exhaust_memory, wild_write, garbage>;

}  // namespace troupe::faults
