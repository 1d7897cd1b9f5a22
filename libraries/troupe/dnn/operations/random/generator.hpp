// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <troupe/dnn/operations/random/philox.hpp>

/// Random numbers that are computed from a counter, each without its predecessors. Host and device compute the same
/// numbers.
namespace troupe::dnn {

/// Returns word n of the sequence of a seed. Four words share a counter, which is n / 4. The words are those of
/// cuRAND's Philox after `curand_init(seed, 0, offset)`.
TROUPE_HOST_DEVICE std::uint32_t random_word(std::uint64_t seed, std::uint64_t n) noexcept {
  const random_words r = philox(seed, n >> 2);
  const std::uint32_t first = (n & 1) != 0 ? r.word[1] : r.word[0], second = (n & 1) != 0 ? r.word[3] : r.word[2];
  return (n & 2) != 0 ? second : first;
}

/// Returns one of the 2^24 multiples of 2^-24 in [0, 1), which float represents exactly.
template <class N>
TROUPE_HOST_DEVICE N uniform_of(std::uint32_t word) noexcept {
  return static_cast<N>(static_cast<std::int32_t>(word >> 8)) * N(0x1p-24);
}

/// Returns the limit for `bernoulli_of`: bernoulli_of(word, bernoulli_limit(p)) is 1 if and only if uniform_of(word) <
/// p.
inline std::uint32_t bernoulli_limit(double probability) noexcept {
  return static_cast<std::uint32_t>(std::ceil(probability * 0x1p24));
}
template <class N>
TROUPE_HOST_DEVICE N bernoulli_of(std::uint32_t word, std::uint32_t limit) noexcept {
  return (word >> 8) < limit ? N(1) : N(0);
}

/// An angle in [0, 2 pi): a number of quarters of a turn, plus a rest in radians between minus and plus an eighth of a
/// turn.
template <class N>
struct turn {
  std::uint32_t quarters;
  N rest;
};
template <class N>
TROUPE_HOST_DEVICE turn<N> turn_of(std::uint32_t word) noexcept {
  const std::uint32_t eighths = word >> 29, quarters = (eighths + 1) >> 1;
  const auto rest = static_cast<std::int32_t>(word >> 8) - static_cast<std::int32_t>(quarters << 22);
  return {quarters, static_cast<N>(rest) * N(6.28318530717958647693 * 0x1p-24)};
}

/// Applies the Box-Muller transform to a pair of words, and returns the first or the second of its two normal numbers.
/// The magnitude of these numbers is less than 5.8.
template <class N>
TROUPE_HOST_DEVICE N normal_of(std::uint32_t first, std::uint32_t second, bool is_second) noexcept {
  const N u = (static_cast<N>(static_cast<std::int32_t>(first >> 9)) + N(0.5)) * N(0x1p-23);
  const turn<N> t = turn_of<N>(second);
  const std::uint32_t quarters = is_second ? t.quarters + 3 : t.quarters;  // a sine is the cosine a quarter before it
  const N along = (quarters & 1) != 0 ? -std::sin(t.rest) : std::cos(t.rest);
  return std::sqrt(N(-2) * std::log(u)) * ((quarters & 2) != 0 ? -along : along);
}
/// Returns normal number n of the sequence of a seed. Numbers 2k and 2k + 1 are both computed from words 2k and 2k + 1.
template <class N>
TROUPE_HOST_DEVICE N random_normal(std::uint64_t seed, std::uint64_t n) noexcept {
  const random_words r = philox(seed, n >> 2);
  const bool upper = (n & 2) != 0;
  return normal_of<N>(upper ? r.word[2] : r.word[0], upper ? r.word[3] : r.word[1], (n & 1) != 0);
}

}  // namespace troupe::dnn
