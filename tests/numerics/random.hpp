// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>

namespace troupe::numerics {

/// Returns the seed of this run: TROUPE_SEED if it is set, otherwise a new one.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    if (const char* given = std::getenv("TROUPE_SEED"))
      return static_cast<std::uint64_t>(std::strtoull(given, nullptr, 0));
    return static_cast<std::uint64_t>(std::random_device{}());
  }();
  return value;
}

/// Returns what to print with a failure so that the run can be repeated.
inline std::string how_to_repeat() { return "repeat with TROUPE_SEED=" + std::to_string(seed()); }

/// Random shapes, choices and values. Every test makes its own generator, so that it behaves the same alone and
/// together with others.
class random_source {
 public:
  explicit random_source(std::uint64_t from = seed()) : engine_(from) {}

  /// Returns a number from `low` to `high`, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto from = static_cast<std::uint64_t>(low);  // unsigned: the distance may exceed a signed number
    return static_cast<std::int64_t>(from + engine_() % (static_cast<std::uint64_t>(high) - from + 1));
  }
  /// Returns a number in (-1, 1).
  double value() { return (static_cast<double>(engine_() >> 11) * 0x1p-53) * 2 - 1; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<std::int64_t>(choices.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace troupe::numerics
