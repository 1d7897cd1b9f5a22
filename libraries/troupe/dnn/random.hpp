// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <troupe/dnn/value.hpp>

namespace troupe::dnn {

/// The sequence of random numbers, and where in it a tensor begins: element i, in row-major order of the axes, is
/// number offset + i. The same seed and offset yield the same numbers again, on every engine. For others in the next
/// step, add the number of elements to the offset.
class random_seed {
 public:
  /// Makes a seed by value: graphs with other seeds have other plans.
  random_seed(std::uint64_t seed, std::uint64_t offset = 0) noexcept : seed_(seed), offset_(offset) {}
  /// Makes a seed in memory, which is read when the request runs, so that a recorded graph can change it: u32 or i32
  /// words, the lower one first; 2 for the seed, or 4 for the seed and a number that is added to the offset.
  explicit random_seed(const value& words, std::uint64_t offset = 0) : words_(words), offset_(offset) {}

  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t offset() const noexcept { return offset_; }
  const std::optional<value>& words() const noexcept { return words_; }

 private:
  std::optional<value> words_;
  std::uint64_t seed_ = 0, offset_ = 0;
};

/// Returns numbers of the uniform distribution: multiples of 2^-24 in [0, 1).
value random_uniform(std::span<const std::int64_t> extents, const random_seed& s);
inline value random_uniform(std::initializer_list<std::int64_t> extents, const random_seed& s) {
  return random_uniform(std::span(extents.begin(), extents.size()), s);
}
/// Returns numbers of the normal distribution with mean 0 and deviation 1, from -5.8 to 5.8.
value random_normal(std::span<const std::int64_t> extents, const random_seed& s);
inline value random_normal(std::initializer_list<std::int64_t> extents, const random_seed& s) {
  return random_normal(std::span(extents.begin(), extents.size()), s);
}
/// Returns 1 where random_uniform is less than the probability, otherwise 0.
value random_bernoulli(std::span<const std::int64_t> extents, double probability, const random_seed& s);
inline value random_bernoulli(std::initializer_list<std::int64_t> extents, double probability, const random_seed& s) {
  return random_bernoulli(std::span(extents.begin(), extents.size()), probability, s);
}

/// Returns x / (1 - probability) where random_bernoulli with 1 - probability is 1, and 0 elsewhere: an element is
/// dropped with that probability, whatever its value. No mask is stored: the gradient has the same one, from the same
/// seed.
value dropout(const value& x, double probability, const random_seed& s);
value dropout_gradient(const value& dy, double probability, const random_seed& s);

}  // namespace troupe::dnn
