// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::protocol {

/// Says if last words name the address that was accessed.
enum class fault_address : std::uint32_t {
  unknown = 0,
  known = 1,
  no_such_memory = 2,  ///< an impossible address, which the processor does not report
};

/// The report of a dying worker.
struct last_words {
  std::uint32_t signal = 0;   ///< that ends the worker; 0: the worker ends by itself, or has written nothing
  bool from_outside = false;  ///< another process sent the signal
  fault_address accessed = fault_address::unknown;
  std::uint64_t address = 0;  ///< if known
  std::uint64_t ticket = 0;   ///< the request that the dying thread worked on; 0: unknown
  std::uint32_t xid = 0;      ///< what the GPU had reported shortly before; 0: nothing that is known
  bool work_ended = false;    ///< the GPU has ended the worker's kernels: they write nothing more

  bool operator==(const last_words&) const = default;
};

/// The memory in which a worker leaves its last words. The application accepts only possible values.
class crash_note {
 public:
  /// The note of the first thread that dies counts, later ones do not. Neither allocates nor locks: signal handlers
  /// call it.
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
  /// Called when the worker is gone.
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
  std::atomic<std::uint32_t> accessed_{0};  // read once: what is checked is what is used
  std::uint64_t address_ = 0;
  std::uint64_t ticket_ = 0;
  std::uint32_t xid_ = 0;
  std::uint32_t work_ended_ = 0;
};

}  // namespace troupe::protocol
