// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::protocol {

/// Tells whether the address that caused the fault is known.
enum class fault_address : std::uint32_t {
  unknown = 0,
  known = 1,
  no_such_memory = 2,  ///< an impossible address, which the processor does not report
};

/// The report that a dying worker leaves.
struct last_words {
  std::uint32_t signal = 0;   ///< the signal that ends the worker; 0: it exits by itself, or has written nothing
  bool from_outside = false;  ///< true if another process sent the signal
  fault_address accessed = fault_address::unknown;
  std::uint64_t address = 0;  ///< the address that was accessed, if `accessed` is known
  std::uint64_t ticket = 0;   ///< ticket of the request that the dying thread ran; 0: unknown
  std::uint32_t xid = 0;      ///< number of the error that the GPU reported shortly before; 0: none is known
  bool work_ended = false;    ///< true if the GPU has ended the worker's kernels, so that they write nothing more

  bool operator==(const last_words&) const = default;
};

/// The shared memory in which a worker leaves its last words. The application accepts only valid values.
class crash_note {
 public:
  /// Writes the words of the first thread that dies; ignores those of later ones. Neither allocates nor locks, because
  /// signal handlers call it.
  void write(const last_words& said) noexcept {
    if (begun_.exchange(1) != 0) return;
    from_outside_ = said.from_outside ? 1 : 0;
    accessed_.store(static_cast<std::uint32_t>(said.accessed), std::memory_order_relaxed);
    address_ = said.address;
    ticket_ = said.ticket;
    xid_ = said.xid;
    work_ended_ = said.work_ended ? 1 : 0;
    signal_.store(said.signal);
  }
  /// Returns the last words. Must be called only when the worker has ended.
  last_words read() const noexcept {
    last_words said;
    said.signal = signal_.load();
    said.from_outside = from_outside_ != 0;
    const std::uint32_t accessed = accessed_.load(std::memory_order_relaxed);
    if (accessed <= static_cast<std::uint32_t>(fault_address::no_such_memory))
      said.accessed = static_cast<fault_address>(accessed);
    said.address = address_;
    said.ticket = ticket_;
    said.xid = xid_;
    said.work_ended = work_ended_ != 0;
    return said;
  }

 private:
  std::atomic<std::uint32_t> begun_{0};
  std::atomic<std::uint32_t> signal_{0};  // written last
  std::uint32_t from_outside_ = 0;
  std::atomic<std::uint32_t> accessed_{0};  // atomic, so that the value that is checked is the one that is used
  std::uint64_t address_ = 0;
  std::uint64_t ticket_ = 0;
  std::uint32_t xid_ = 0;
  std::uint32_t work_ended_ = 0;
};

}  // namespace troupe::protocol
