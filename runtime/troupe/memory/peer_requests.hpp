// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <troupe/base/error.hpp>
#include <troupe/request/checker.hpp>
#include <type_traits>

/// The requests that copies between devices consist of.
namespace troupe::memory {

/// Why these requests cannot be part of a graph.
inline constexpr std::string_view half_of_a_copy = "it is one half of a copy between two devices";

/// The source's half of a direct copy between two devices; `copy_between` sends one half to each device. The halves
/// share `staging`, the address of a staging_header that both workers can access. This half announces that the source
/// is complete, and holds up later writes to it until the other half has copied it.
struct peer_show {
  in<std::byte> source;
  extent bytes;
  std::uint64_t staging;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  TROUPE_REQUEST("memory.copy_between.source", source, bytes, staging)
  void check(checker& c) const;
};
/// The target's half of a direct copy: copies from the source.
struct peer_take {
  out<std::byte> target;
  extent bytes;
  std::uint64_t from;  ///< the source's address in this worker
  std::uint64_t staging;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  TROUPE_REQUEST("memory.copy_between.target", target, bytes, from, staging)
  void check(checker& c) const;
};
/// The source's half of a staged copy, for a target whose worker cannot access the source: copies the source to the
/// chunks after the header while the other half empties them.
struct peer_send {
  in<std::byte> source;
  extent bytes;
  std::uint64_t staging;
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  TROUPE_REQUEST("memory.copy_between.staged_source", source, bytes, staging, chunk_bytes, chunks)
  void check(checker& c) const;
};
/// The target's half of a staged copy: copies from the chunks.
struct peer_receive {
  out<std::byte> target;
  extent bytes;
  std::uint64_t staging;
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  TROUPE_REQUEST("memory.copy_between.staged_target", target, bytes, staging, chunk_bytes, chunks)
  void check(checker& c) const;
};

template <class R>
inline constexpr bool is_half_of_peer_copy = std::is_same_v<R, peer_show> || std::is_same_v<R, peer_take> ||
                                             std::is_same_v<R, peer_send> || std::is_same_v<R, peer_receive>;
/// Returns the error of a copy in chunks whose staging_header is damaged.
inline error counts_overwritten() {
  return error(reaction::retry_later, "memory",
               "copy in chunks: the counts of its chunks were overwritten, probably by a kernel that writes past its "
               "memory; copy again");
}
/// Returns the error of a half whose other half was abandoned. The application has the cause and reports that instead.
inline error peer_failed() {
  return error(reaction::retry_later, "memory", "copy between devices: the other device did not finish its half");
}

}  // namespace troupe::memory
