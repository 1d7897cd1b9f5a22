// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <troupe/request/checker.hpp>

/// The requests that copies within a device, and between a device and the application, consist of.
namespace troupe::memory {

/// Why streamed copies cannot be part of a graph.
inline constexpr std::string_view part_of_a_transfer = "it copies together with a thread of the application";

/// Copies `bytes` from one place of the device to another.   cuMemcpyAsync / memcpy
struct copy {
  in<std::byte> source;
  out<std::byte> target;
  extent bytes;
  TROUPE_REQUEST("memory.copy", source, target, bytes)
  void check(checker& c) const;
};

/// Copies from a host buffer on the lane for uploads.
struct upload {
  in<std::byte> source;
  out<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded =
      "it copies from memory that the application writes meanwhile; record memory::copy from a buffer instead";
  TROUPE_REQUEST("memory.upload", source, target, bytes)
  void check(checker& c) const;
};
/// Copies to a host buffer on the lane for downloads.
struct download {
  in<std::byte> source;
  out<std::byte> target;
  extent bytes;
  static constexpr std::string_view not_recorded =
      "it copies to memory that the application reads meanwhile; record memory::copy to a buffer instead";
  TROUPE_REQUEST("memory.download", source, target, bytes)
  void check(checker& c) const;
};

/// Copies `rows` rows of `width` bytes, which begin `*_pitch` bytes apart in source and target.   cuMemcpy2DAsync
struct copy_2d {
  in<std::byte> source;
  out<std::byte> target;
  extent width, rows;
  extent source_pitch = tight, target_pitch = tight;
  TROUPE_REQUEST("memory.copy_2d", source, target, width, rows, source_pitch, target_pitch)
  void check(checker& c) const;
};

/// Fills the target with a pattern of 1 to 16 bytes.   cuMemsetD8Async … D32Async
struct fill {
  out<std::byte> target;
  extent bytes;
  std::array<std::byte, 16> pattern;
  extent pattern_bytes;
  TROUPE_REQUEST("memory.fill", target, bytes, pattern, pattern_bytes)
  void check(checker& c) const;
};

/// Copies ordinary memory of the application to the device through a staging block, which the application fills while
/// the worker empties it.
struct stream_in {
  out<std::byte> target;
  extent bytes;
  std::uint64_t staging;    ///< address of a sent_header, which the worker must not write
  out<std::byte> progress;  ///< a staging_header
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = part_of_a_transfer;
  TROUPE_REQUEST("memory.stream_in", target, bytes, staging, progress, chunk_bytes, chunks)
  void check(checker& c) const;
};
/// Copies device memory to ordinary memory of the application through a staging block, which the worker fills.
struct stream_out {
  in<std::byte> source;
  extent bytes;
  std::uint64_t staging;  ///< address of a staging_header
  extent chunk_bytes, chunks;
  static constexpr std::string_view not_recorded = part_of_a_transfer;
  TROUPE_REQUEST("memory.stream_out", source, bytes, staging, chunk_bytes, chunks)
  void check(checker& c) const;
};

}  // namespace troupe::memory
