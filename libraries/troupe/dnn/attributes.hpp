// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/kinds.hpp>
#include <troupe/epilogue/op.hpp>
#include <type_traits>

/// What a node says beside its tensors: plain numbers, which are part of a plan's key.
namespace troupe::dnn {

/// The most indexes of a convolution or a pooling beside image and channel.
inline constexpr std::size_t most_spatial = 3;

/// How a window moves, along each spatial index.
struct sliding {
  std::int64_t padding_before[most_spatial], padding_after[most_spatial];  ///< zeros around the image
  std::int64_t stride[most_spatial], dilation[most_spatial];
};
/// Of a convolution and its gradients.
struct convolution_attributes {
  sliding window;
  std::int64_t groups;
};

/// Of a pooling and its gradient.
struct pooling_attributes {
  std::int64_t extents[most_spatial];
  sliding window;
  pooling_kind kind;
};

/// Which operation of epilogues.
struct pointwise_attributes {
  epilogue::op function;
  std::uint8_t unused[7];
};

/// Of a reduction.
struct reduction_attributes {
  std::int64_t over;  ///< bit i: over index i
  reduction_kind kind;
};

/// Inputs: x, and scale and offset, which are both given or neither; for running averages also those, of mean and
/// variance. Outputs: y, mean and inverse deviation of x; then the next running averages.
struct normalization_attributes {
  std::int64_t over;  ///< bit i: statistics are over index i
  /// The number of groups of neighbours into which index 1 is divided, with statistics of their own; 1: it is not, or
  /// over all.
  std::int64_t groups;
  std::int64_t rms;          ///< 1: no mean is subtracted, and the second output is 0
  std::int64_t has_affine;   ///< 1: scale and offset are given; an rms attributes has a scale alone
  std::int64_t has_running;  ///< 1: running averages are given
  double epsilon, momentum;  ///< next = (1 - momentum) * running + momentum * here, of the unbiased variance
};
/// Inputs: dy, x, mean, inverse deviation; scale, if there is one. Outputs: dx; for a scale also its gradient, and that
/// of the offset unless rms.
using normalization_gradient_attributes = normalization_attributes;

/// Of softmax and its gradient.
struct softmax_attributes {
  std::int64_t over;         ///< the index
  std::int64_t logarithmic;  ///< 1: its logarithm
};
/// The order of indexes.
struct transposition_attributes {
  std::int64_t from[8];  ///< index i of the result is index from[i] of the tensor
};
/// The index along which parts are put after each other.
struct concatenation_attributes {
  std::int64_t along;
};
/// Where the part begins, at each index.
struct slice_attributes {
  std::int64_t first[8];
};

/// What random numbers are: in [0, 1), standard normal, or 1 with a probability and otherwise 0.
enum class random_kind : std::int64_t { uniform, normal, bernoulli };
/// Of random numbers. Input: none, or words of memory: 2, the seed, or 4, the seed and a number that is added to the
/// offset; the lower one first. See generator.hpp.
struct random_attributes {
  random_kind kind;
  std::uint64_t seed, offset;
  double probability;
};
/// Of a normalisation across channels, and its gradient, whose inputs are dy and x: x / (k + alpha / size * sum)^beta,
/// where the sum is that of squares at `size` channels, (size - 1) / 2 of them before.
struct local_response_norm_attributes {
  std::int64_t size;
  double alpha, beta, k;
};
/// Of a resampling and its gradient.
struct resampling_attributes {
  resampling_kind kind;
  std::int64_t aligned;  ///< 1: the centres of the corners lie on each other; 0: the corners themselves
};
// Pooling with indexes has outputs y and where in the image's spatial indexes each lies, in row-major order. The inputs
// of its gradient are dy and these. Both have a pooling_attributes.

/// Of a quantisation in blocks along an index: its outputs are the elements and their scales, one for each block.
struct block_attributes {
  std::int64_t along, block;
  dtype elements, scales;
  std::uint8_t unused[6];
};

/// The numbers of any attributes.
struct node_attributes {
  static constexpr std::size_t words = 16;
  std::int64_t word[words] = {};

  template <class F>
  static node_attributes of(const F& f) noexcept {
    static_assert(sizeof(F) <= sizeof(node_attributes) && std::is_trivially_copyable_v<F> &&
                  sizeof(F) % sizeof(std::int64_t) == 0);
    node_attributes out;
    __builtin_memcpy(out.word, &f, sizeof f);
    return out;
  }
  template <class F>
  F as() const noexcept {
    F out;
    __builtin_memcpy(&out, word, sizeof out);
    return out;
  }
  friend bool operator==(const node_attributes&, const node_attributes&) = default;
};

}  // namespace troupe::dnn
