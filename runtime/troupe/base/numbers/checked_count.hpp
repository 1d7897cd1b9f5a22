// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe {

/// A count below 2^47 in memory that a broken program may overwrite. The word holds the count in its upper bits and a
/// checksum in its low 16 bits, so that `load` detects most accidental writes. Words compare as their counts do, also
/// as signed numbers, so a GPU can write them and wait for them. A word of zeros is not valid: the memory must be
/// initialized.
class checked_count {
 public:
  /// The result of `load` for a word that is not a count.
  static constexpr std::uint64_t damaged = UINT64_MAX;

  static constexpr std::uint64_t word_of(std::uint64_t count) noexcept { return count << bits | check_of(count); }
  static constexpr std::uint64_t count_of(std::uint64_t word) noexcept {
    return check_of(word >> bits) == (word & most_check) ? word >> bits : damaged;
  }

  void store(std::uint64_t count, std::memory_order order = std::memory_order_seq_cst) noexcept {
    word_.store(word_of(count), order);
  }
  std::uint64_t load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return count_of(word_.load(order));
  }
  /// Returns true if the word holds a count of at least `count`. Returns false for a damaged word, so that damage lets
  /// no waiter continue.
  bool reaches(std::uint64_t count, std::memory_order order = std::memory_order_acquire) const noexcept {
    const std::uint64_t found = load(order);
    return found != damaged && found >= count;
  }
  std::atomic<std::uint64_t>& word() noexcept { return word_; }
  const std::atomic<std::uint64_t>& word() const noexcept { return word_; }

 private:
  static constexpr int bits = 16;
  static constexpr std::uint64_t most_check = (std::uint64_t{1} << bits) - 1;
  // The upper bits of a product depend on all bits of its factors.
  static constexpr std::uint64_t check_of(std::uint64_t count) noexcept {
    return (count + 1) * 0x9e3779b97f4a7c15u >> (64 - bits);
  }

  std::atomic<std::uint64_t> word_{word_of(0)};
};
static_assert(sizeof(checked_count) == sizeof(std::uint64_t));

}  // namespace troupe
