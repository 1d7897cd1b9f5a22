// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>

namespace troupe {

enum class memory_kind : std::uint8_t {
  device,  ///< mapped by the worker only
  host,    ///< mapped by the application, too
  sent,    ///< like `host`, but read-only for workers; counts as host memory
};

/// The alignment of segments: addresses and sizes are multiples of this.
inline constexpr std::uint64_t segment_alignment = std::uint64_t{2} << 20;

/// Memory that the worker maps, at the latest before it needs it.
struct segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;         ///< the application's address of the segment; null for memory_kind::device
  std::shared_ptr<const void> keep;  ///< must live as long as any of its blocks
};

/// Makes memory for a device. Called under the lock of the device's memory, unless stated otherwise.
class segment_source {
 public:
  /// Makes the memory of a segment, if that takes long. Called without the lock, by one thread at a time. If
  /// `after_release`, segments were just released, and it is worth waiting until the system has them. Fails with
  /// `retry_later` and the code ETIMEDOUT if the worker did not answer, and without that code if memory is short.
  virtual result<file_descriptor> prepare(memory_kind, std::uint64_t, bool after_release) {
    (void)after_release;
    return file_descriptor();
  }
  /// Makes a segment of at least `bytes`.
  virtual result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) = 0;
  /// Maps memory of another device, or shared by two devices, for the workers of this one.
  virtual result<segment> attach(memory_kind, std::uint64_t, file_descriptor, bool) {
    return error(reaction::unsupported, "memory", "this memory cannot be shared with other devices");
  }
  /// Releases a segment that is no longer used.
  virtual void shrink(memory_kind kind, const segment& s) noexcept = 0;
  /// Makes these bytes read-only, or writable again, in every worker and in later ones. Worker `by` (0: none) is left
  /// out: a request does it there, in its order.
  virtual void protect(std::uint64_t address, std::uint64_t bytes, bool read_only, std::uint32_t by) noexcept = 0;
  /// Returns a ticket that no request accepted so far exceeds and every later one does; 0 before the first. May be
  /// called without the lock.
  virtual std::uint64_t last_ticket() const noexcept = 0;

 protected:
  ~segment_source() = default;
};

}  // namespace troupe
