// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// A sequence of random numbers, and an offset in it: element i of a tensor, in row-major order, is number offset + i.
/// Equal seeds and offsets yield the same numbers on every engine. To get other numbers in the next training step, add
/// the number of elements to the offset.
class random_seed {
 public:
  /// Makes a seed by value. It is part of the plan, so each seed needs its own plan.
  random_seed(std::uint64_t seed, std::uint64_t offset = 0) noexcept : seed_(seed), offset_(offset) {}
  /// Makes a seed in memory, which is read when the request runs, so that a recorded graph can change it. The memory
  /// holds u32 or i32 words, the lower word first: 2 for the seed, or 4 for the seed and a number that is added to the
  /// offset.
  explicit random_seed(const value& words, std::uint64_t offset = 0) : words_(words), offset_(offset) {}

  std::uint64_t seed() const noexcept { return seed_; }
  std::uint64_t offset() const noexcept { return offset_; }
  const std::optional<value>& words() const noexcept { return words_; }

 private:
  std::optional<value> words_;
  std::uint64_t seed_ = 0, offset_ = 0;
};

/// Returns uniformly distributed numbers: multiples of 2^-24 in [0, 1).
value random_uniform(std::span<const std::int64_t> extents, const random_seed& s);
inline value random_uniform(std::initializer_list<std::int64_t> extents, const random_seed& s) {
  return random_uniform(std::span(extents.begin(), extents.size()), s);
}
/// Returns normally distributed numbers with mean 0 and standard deviation 1, from -5.8 to 5.8.
value random_normal(std::span<const std::int64_t> extents, const random_seed& s);
inline value random_normal(std::initializer_list<std::int64_t> extents, const random_seed& s) {
  return random_normal(std::span(extents.begin(), extents.size()), s);
}
/// Returns 1 for each element for which random_uniform is less than the probability, otherwise 0.
value random_bernoulli(std::span<const std::int64_t> extents, double probability, const random_seed& s);
inline value random_bernoulli(std::initializer_list<std::int64_t> extents, double probability, const random_seed& s) {
  return random_bernoulli(std::span(extents.begin(), extents.size()), probability, s);
}

/// Sets each element to 0 with the probability, whatever its value, and divides the others by 1 - probability. The
/// others are those for which random_bernoulli(1 - probability) is 1. No mask is stored: the gradient needs the same
/// seed.
value dropout(const value& x, double probability, const random_seed& s);
value dropout_gradient(const value& dy, double probability, const random_seed& s);

/// y = x / (1 - probability), or 0 with the probability.
struct dropout_forward {
  in_any x;
  out_any y;
  double probability;
  std::uint64_t seed = 0;    ///< seed and offset are part of the plan's key
  std::uint64_t offset = 0;  ///< index of the first element's number in the sequence of the seed
  /// Given instead of the seed: 2 or 4 words of u32 or i32, which are read when the request runs; see random_seed.
  std::optional<in_any> words = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.dropout_forward", x, y, probability, seed, offset, words, options)
  computation to_request() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. The other fields must be those of the forward request.
struct dropout_backward {
  in_any dy;
  out_any dx;
  double probability;
  std::uint64_t seed = 0, offset = 0;
  std::optional<in_any> words = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.dropout_backward", dy, dx, probability, seed, offset, words, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
