// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <troupe/request/checker.hpp>

/// The requests that change which programs may access memory. They copy nothing.
namespace troupe::memory {

/// Why these requests cannot be part of a graph.
inline constexpr std::string_view changes_what_is_allowed = "it changes what all later requests may do",
                                  hands_memory_over = "it hands memory over at a time that the application knows";

/// Makes the target's pages read-only in the worker, for `seal`. Precondition: the pages hold nothing but the target.
/// mprotect
struct seal {
  in<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = changes_what_is_allowed;
  TROUPE_REQUEST("memory.seal", target, bytes)
  void check(checker& c) const;
};
/// Makes sealed pages writable again, for `unseal`.
struct unseal {
  inout<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = changes_what_is_allowed;
  TROUPE_REQUEST("memory.unseal", target, bytes)
  void check(checker& c) const;
};

/// Marks the place in the order of requests from which another program, unknown to the device, may read and write the
/// bytes, for `lend`. The worker does nothing.
struct lend {
  inout<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = hands_memory_over;
  TROUPE_REQUEST("memory.lend", target, bytes)
  void check(checker& c) const;
};
/// Does the same for a program that only reads.
struct show {
  in<std::byte> source;
  extent bytes;
  static constexpr std::string_view not_recorded = hands_memory_over;
  TROUPE_REQUEST("memory.show", source, bytes)
  void check(checker& c) const;
};
/// Ends a `lend`: all of the bytes count as written by the other program.
struct take_back {
  out<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = hands_memory_over;
  TROUPE_REQUEST("memory.take_back", target, bytes)
  void check(checker& c) const;
};

}  // namespace troupe::memory
