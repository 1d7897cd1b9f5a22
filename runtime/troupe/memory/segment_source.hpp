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
  device,  ///< seen by the worker only
  host,    ///< seen by the application too
  sent,    ///< the same, but workers can only read it; counts as host memory
};

/// The address of a segment is a multiple of this, and so is its size.
inline constexpr std::uint64_t segment_alignment = std::uint64_t{2} << 20;

/// Memory that has been made and that the worker maps, or will before it needs it.
struct segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;         ///< where the application has it mapped; not with memory_kind::device
  std::shared_ptr<const void> keep;  ///< what must live as long as any of its blocks
};

/// Makes memory for a device. Called under the lock of the device's memory, except where something else is said.
class segment_source {
 public:
  /// What a segment of so many bytes is made of, where that takes its time. Called without the lock, by one thread at a
  /// time. `after_release`: segments were given back just now, and it is worth waiting until the system has them.
  /// `retry_later` with the code ETIMEDOUT: nobody answered; without it, there is too little of something.
  virtual result<file_descriptor> prepare(memory_kind, std::uint64_t, bool after_release) {
    (void)after_release;
    return file_descriptor();
  }
  /// A new segment of at least `bytes`.
  virtual result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor prepared) = 0;
  /// Memory that another device has, or that two devices share, where the workers of this one see it.
  virtual result<segment> attach(memory_kind, std::uint64_t, file_descriptor, bool) {
    return error(reaction::unsupported, "memory", "this memory cannot be shared with other devices");
  }
  /// The segment is not used any more.
  virtual void shrink(memory_kind kind, const segment& s) noexcept = 0;
  /// From now on these bytes are read-only in every worker, and in those to come; or not any more. One worker does so
  /// by itself, at the place of that request in its order: `by`, 0: none.
  virtual void protect(std::uint64_t address, std::uint64_t bytes, bool read_only, std::uint32_t by) noexcept = 0;
  /// Requests accepted so far have no greater ticket, later ones have; 0 before the first. May be called without the
  /// lock.
  virtual std::uint64_t last_ticket() const noexcept = 0;

 protected:
  ~segment_source() = default;
};

}  // namespace troupe
