// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <tests/simulation/random.hpp>

namespace troupe::simulation {

/// One aligned word that the serving worker shares with the application, damaged once, before one step of a run
/// without other faults, as by a stray write.
struct damaged_word {
  enum class becomes : std::uint32_t { zeros, ones, its_last_value, one_bit_wrong };
  static constexpr std::uint32_t ways = 4, steps = 120;
  /// Groups of words: the lanes' counts and the count of reports; the rest of that page; the states and gates of
  /// requests; the lanes' logs; the report ring from the first unread record on; the header of a transfer.
  static constexpr std::uint32_t groups = 6, ring = 4;
  static constexpr std::uint32_t words_in[groups] = {17, 192, 4, 32, 64, 5};

  static constexpr std::uint32_t all = ways * [] {
    std::uint32_t sum = 0;
    for (const std::uint32_t n : words_in) sum += n;
    return sum;
  }();
  /// Returns one of the all * steps damages of a run.
  static damaged_word number(std::uint64_t n, std::uint32_t base) noexcept {
    damaged_word d{
        .base = base, .step = static_cast<std::uint32_t>(n % steps + 1), .how = static_cast<becomes>(n / steps % ways)};
    for (d.word = static_cast<std::uint32_t>(n / steps / ways); d.word >= words_in[d.group]; ++d.group)
      d.word -= words_in[d.group];
    return d;
  }
  /// Returns a random one. Groups are equally likely; of the ring, the words that may begin a record are the likeliest.
  static damaged_word sample(std::uint64_t n) noexcept {
    random_bits r(n);
    damaged_word d{.base = r.below(0x10000), .step = r.between(1, steps), .group = r.below(groups)};
    d.word = r.below(words_in[d.group]);
    if (d.group == ring && r.percent(50)) d.word = d.word / 8 * 8;
    d.how = static_cast<becomes>(r.below(ways));
    return d;
  }

  std::uint32_t base;  ///< what the run would be without the damage
  std::uint32_t step = 0, group = 0, word = 0;
  becomes how = becomes::zeros;

  /// A run's seed contains the damage, so that the seed alone determines the run.
  std::uint64_t seed() const noexcept {
    return flag | std::uint64_t{base} << 24 | step << 16 | group << 12 | word << 2 | static_cast<std::uint64_t>(how);
  }
  static std::optional<damaged_word> in_seed(std::uint64_t seed) noexcept {
    if ((seed & flag) == 0) return {};
    const auto bits = [seed](int from, std::uint32_t most) { return static_cast<std::uint32_t>(seed >> from) & most; };
    return damaged_word{bits(24, 0xffff), bits(16, 0xff), bits(12, 0xf), bits(2, 0x3ff),
                        static_cast<becomes>(bits(0, 3))};
  }

 private:
  static constexpr std::uint64_t flag = std::uint64_t{1} << 62;
};
static_assert(damaged_word::steps < 0x100 && damaged_word::groups < 0x10);

}  // namespace troupe::simulation
