// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/request/checker.hpp>

/// The requests behind upload, download, copy and fill. `device` has the functions a user calls.
namespace troupe::memory {

/// Why some cannot be part of a graph.
inline constexpr std::string_view part_of_a_conversation = "it is one part of a conversation with the application",
                                  half_of_a_copy = "it is one half of a copy between two devices",
                                  changes_what_is_allowed = "it changes what all requests may do from then on",
                                  hands_memory_over = "it hands memory over at a time that the application knows";

/// Copies `bytes` from one place of the device to another.   cuMemcpyAsync / memcpy
struct copy {
  in<std::byte> source;
  out<std::byte> target;
  extent bytes;
  using reply = void;
  TROUPE_REQUEST("memory.copy", source, target, bytes)
  void check(checker& c) const;
};

/// The same from or to memory that the application sees, on the lane for that direction.
struct upload {
  in<std::byte> source;
  out<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded =
      "it copies what the application has in its memory at the time; record memory::copy from a buffer instead";
  using reply = void;
  TROUPE_REQUEST("memory.upload", source, target, bytes)
  void check(checker& c) const;
};
/// Copies device memory to a host buffer.
struct download {
  in<std::byte> source;
  out<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded =
      "it copies to memory that the application reads at the time; record memory::copy to a buffer instead";
  using reply = void;
  TROUPE_REQUEST("memory.download", source, target, bytes)
  void check(checker& c) const;
};

/// Copies `rows` runs of `width` bytes between places where they lie `*_pitch` bytes apart.   cuMemcpy2DAsync
struct copy_2d {
  in<std::byte> source;
  out<std::byte> target;
  extent width, rows;
  extent source_pitch = tight, target_pitch = tight;
  using reply = void;
  TROUPE_REQUEST("memory.copy_2d", source, target, width, rows, source_pitch, target_pitch)
  void check(checker& c) const;
};

/// Repeats a pattern of 1 to 16 bytes.   cuMemsetD8Async … D32Async
struct fill {
  out<std::byte> target;
  extent bytes;
  std::array<std::byte, 16> pattern;
  extent pattern_bytes;
  using reply = void;
  TROUPE_REQUEST("memory.fill", target, bytes, pattern, pattern_bytes)
  void check(checker& c) const;
};

/// Ordinary memory of the application, through a staging block that one side fills while the other empties it.
struct stream_in {
  out<std::byte> target;
  extent bytes;
  std::uint64_t staging;    ///< address of a sent_header, which the worker may only read
  out<std::byte> progress;  ///< a staging_header
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = part_of_a_conversation;
  using reply = void;
  TROUPE_REQUEST("memory.stream_in", target, bytes, staging, progress, chunk_bytes, chunks)
  void check(checker& c) const;
};
/// Copies device memory to ordinary memory, in chunks.
struct stream_out {
  in<std::byte> source;
  extent bytes;
  std::uint64_t staging;  ///< address of a staging_header
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = part_of_a_conversation;
  using reply = void;
  TROUPE_REQUEST("memory.stream_out", source, bytes, staging, chunk_bytes, chunks)
  void check(checker& c) const;
};

/// The two halves of a copy from one device to another, each a request of one of them; `copy_between` sends both.
/// They meet in a staging_header that both workers see, `meeting`. Where the target's worker sees the source itself,
/// the first says that the source holds what it should, and that it may be written again only when the other has it.
struct peer_show {
  in<std::byte> source;
  extent bytes;
  std::uint64_t meeting;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  using reply = void;
  TROUPE_REQUEST("memory.peer_show", source, bytes, meeting)
  void check(checker& c) const;
};
/// The target's half of a direct copy between devices.
struct peer_take {
  out<std::byte> target;
  extent bytes;
  std::uint64_t from;  ///< where this worker sees the source
  std::uint64_t meeting;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  using reply = void;
  TROUPE_REQUEST("memory.peer_take", target, bytes, from, meeting)
  void check(checker& c) const;
};
/// Where it does not: through chunks behind the header, which one fills while the other empties them.
struct peer_send {
  in<std::byte> source;
  extent bytes;
  std::uint64_t meeting;
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  using reply = void;
  TROUPE_REQUEST("memory.peer_send", source, bytes, meeting, chunk_bytes, chunks)
  void check(checker& c) const;
};
/// The target's half of a copy between devices through host memory.
struct peer_receive {
  out<std::byte> target;
  extent bytes;
  std::uint64_t meeting;
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = half_of_a_copy;
  using reply = void;
  TROUPE_REQUEST("memory.peer_receive", target, bytes, meeting, chunk_bytes, chunks)
  void check(checker& c) const;
};

template <class R>
inline constexpr bool is_half_of_peer_copy = std::is_same_v<R, peer_show> || std::is_same_v<R, peer_take> ||
                                             std::is_same_v<R, peer_send> || std::is_same_v<R, peer_receive>;
/// When the other half will not come. The application, which knows why, says so instead.
inline error peer_failed() {
  return error(reaction::retry_later, "memory", "copy between devices: the other device has given it up");
}

/// What `seal` and `unseal` send: makes the target's pages read-only in the worker, and writable again.
/// Whole pages from the target's address on are its own.   mprotect
struct seal {
  in<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = changes_what_is_allowed;
  using reply = void;
  TROUPE_REQUEST("memory.seal", target, bytes)
  void check(checker& c) const;
};
/// Makes a sealed block writable again.
struct unseal {
  inout<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = changes_what_is_allowed;
  using reply = void;
  TROUPE_REQUEST("memory.unseal", target, bytes)
  void check(checker& c) const;
};

/// What `lend` and `take_back` send: marks when the bytes belong to somebody else, a program that the device
/// knows nothing of. Nothing is done.
struct lend {
  inout<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = hands_memory_over;
  using reply = void;
  TROUPE_REQUEST("memory.lend", target, bytes)
  void check(checker& c) const;
};
/// The same for who will only read.
struct show {
  in<std::byte> source;
  extent bytes;
  static constexpr std::string_view not_recorded = hands_memory_over;
  using reply = void;
  TROUPE_REQUEST("memory.show", source, bytes)
  void check(checker& c) const;
};
/// Counts all of a lent buffer as written.
struct take_back {
  out<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded = hands_memory_over;
  using reply = void;
  TROUPE_REQUEST("memory.take_back", target, bytes)
  void check(checker& c) const;
};

/// Done when everything queued before it is.
struct fence {
  std::uint32_t unused = 0;
  static constexpr std::string_view not_recorded = "it waits for the whole device";
  using reply = void;
  TROUPE_REQUEST("memory.fence", unused)
  void check(checker&) const {}
};

/// Nothing but the way there and back.
struct ping {
  std::uint64_t value;
  using reply = std::uint64_t;
  TROUPE_REQUEST("memory.ping", value)
  void check(checker&) const {}
};

}  // namespace troupe::memory
