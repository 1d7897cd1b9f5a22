// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The maximum number of lanes of a worker.
inline constexpr std::uint32_t max_lanes = 16;

}  // namespace troupe

/// The encodings of single words in the memory that the application and a worker share.
namespace troupe::protocol {

/// Bits for the slot in a word that holds a slot and a ticket.
inline constexpr std::uint32_t slot_bits = 20;
/// The number of slots of the largest mailbox.
inline constexpr std::uint32_t most_requests = 65536;
static_assert(most_requests <= std::uint32_t{1} << slot_bits);

/// The maximum number of lanes for lane_policy::pooled, and of threads for slow work. A worker has four more lanes: for
/// uploads, downloads, high priority and low priority.
inline constexpr std::uint32_t most_pool_lanes = 8, most_helpers = 4;
static_assert(4 + most_pool_lanes + most_helpers <= max_lanes);

/// What was decided about a request. The word of a slot names the newest of its requests for which there is a decision:
/// the worker starts it, or the application cancels it, and the first of the two wins. Neither changes the word if it
/// names a newer request.
enum class phase : std::uint64_t { none = 0, started = 1, cancelled = 2 };
constexpr std::uint64_t slot_word(std::uint64_t ticket, phase p) noexcept {
  return ticket << 2 | static_cast<std::uint64_t>(p);
}
constexpr phase phase_of(std::uint64_t word) noexcept { return static_cast<phase>(word & 3); }
constexpr std::uint64_t ticket_of(std::uint64_t word) noexcept { return word >> 2; }

/// An entry of a lane's log: the slot of its n-th operation, and enough bits of the ticket to recognize a wrong entry.
constexpr std::uint64_t log_word(std::uint64_t ticket, std::uint32_t slot) noexcept {
  return ticket << slot_bits | slot;
}
constexpr std::uint32_t slot_of(std::uint64_t log) noexcept { return log & ((std::uint64_t{1} << slot_bits) - 1); }

/// A word for a started request with a time limit: the operations that it waits for on the device, and whether it
/// shares a call with the request before it in its lane.
class gate {
 public:
  constexpr gate() noexcept = default;
  constexpr explicit gate(std::uint64_t word) noexcept : word_(word) {}
  constexpr std::uint64_t word() const noexcept { return word_; }

  /// Adds a wait for the operation with this entry in the log of `lane`.
  constexpr void add(std::uint32_t lane, std::uint64_t log) noexcept {
    if (lanes() == 0 || static_cast<std::int64_t>((log & ticket_bits) - (word_ & ticket_bits)) > 0)
      word_ = (log & ticket_bits) | (word_ & ~ticket_bits);
    word_ |= std::uint64_t{1} << lane;
  }
  constexpr void add(const gate& other) noexcept {
    for (std::uint32_t lane = 0; lane < max_lanes; ++lane)
      if ((other.lanes() >> lane & 1) != 0) add(lane, other.word_);
  }
  constexpr void share_a_call() noexcept { word_ |= sharing; }

  /// Returns the lanes that the request waits for, one bit each.
  constexpr std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(word_) & (sharing - 1); }
  /// Returns the largest ticket that the request waits for in these lanes. `ticket` is the request's own.
  constexpr std::uint64_t youngest(std::uint64_t ticket) const noexcept {
    return ticket - (((ticket << ticket_shift) - (word_ & ticket_bits)) >> ticket_shift);
  }
  constexpr bool shares_a_call() const noexcept { return (word_ & sharing) != 0; }

 private:
  static constexpr std::uint32_t ticket_shift = slot_bits,
                                 sharing = 1 << max_lanes;  // as in log_word
  static constexpr std::uint64_t ticket_bits = ~std::uint64_t{0} << ticket_shift;
  static_assert(max_lanes < ticket_shift);
  std::uint64_t word_ = 0;
};

}  // namespace troupe::protocol
