// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Cuts a sequence of operations into calls. An engine stores what it has made for a call, so a sequence that is
/// repeated should be cut at the same places, wherever it began. So the place depends on the operations themselves:
/// among the places in the second half of a full call, it is the one after the operations with the highest hash.
class sequence_cut {
 public:
  /// Notes the next operation: it has this `key`, is number `count` of its call, and the call takes at most `most`.
  void note(std::uint64_t key, std::uint32_t count, std::uint32_t most) noexcept {
    if (count == 1) place_ = 0, highest_ = 0;
    before_ = before_ << 16 | (key * multiplier >> 48);  // of the last four operations
    const std::uint64_t hash = before_ * multiplier;
    if (count > most / 2 && hash >= highest_) highest_ = hash, place_ = count;
  }
  /// Returns the number of operations of a call of `count` that are sent now. The others begin the next call, and are
  /// not noted again.
  std::uint32_t place(std::uint32_t count) const noexcept { return place_ != 0 ? place_ : count; }
  /// Begins the next call, with the operations that the cut has left.
  void begin() noexcept { place_ = 0, highest_ = 0; }

 private:
  static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15u;
  std::uint64_t before_ = 0, highest_ = 0;
  std::uint32_t place_ = 0;
};

}  // namespace troupe
