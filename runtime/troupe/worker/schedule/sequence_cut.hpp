// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Cuts a row of operations into calls. An engine keeps what it has made for a call, so a sequence that comes again
/// should be cut at the same places, wherever the row began. So the place depends on the operations themselves: among
/// the places in the second half of a full call, it is the one after the operations with the highest hash.
class sequence_cut {
 public:
  /// `key` is of the next operation, the `count`-th of its call, which takes `most`.
  void note(std::uint64_t key, std::uint32_t count, std::uint32_t most) noexcept {
    if (count == 1) place_ = 0, highest_ = 0;
    before_ = before_ << 16 | (key * multiplier >> 48);  // of the last four
    const std::uint64_t hash = before_ * multiplier;
    if (count > most / 2 && hash >= highest_) highest_ = hash, place_ = count;
  }
  /// Returns the number of operations of a call of `count` that go now. The others begin the next call, for which
  /// nothing is noted again.
  std::uint32_t place(std::uint32_t count) const noexcept { return place_ != 0 ? place_ : count; }
  /// The next call has begun with what the cut has left.
  void begin() noexcept { place_ = 0, highest_ = 0; }

 private:
  static constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15u;
  std::uint64_t before_ = 0, highest_ = 0;
  std::uint32_t place_ = 0;
};

}  // namespace troupe
