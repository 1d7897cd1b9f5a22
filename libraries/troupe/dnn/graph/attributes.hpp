// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/epilogue/op.hpp>
#include <type_traits>

/// The attributes of nodes, which are part of a plan's key.
namespace troupe::dnn {

/// The largest number of spatial axes.
inline constexpr std::size_t most_spatial = 3;

/// A windows::slide along each spatial axis, as attributes of a node.
struct sliding {
  std::int64_t padding_before[most_spatial], padding_after[most_spatial];  ///< in elements
  std::int64_t stride[most_spatial], dilation[most_spatial];
};
/// The attributes of a convolution and its gradients.
struct convolution_attributes {
  sliding window;
  std::int64_t groups;
};

/// The attributes of a pooling and its gradient.
struct pooling_attributes {
  std::int64_t extents[most_spatial];
  sliding window;
  pooling_kind kind;
};

/// The attributes of an elementwise operation: one of epilogue::op.
struct pointwise_attributes {
  epilogue::op function;
  std::uint8_t unused[7];
};

/// The attributes of a reduction.
struct reduction_attributes {
  std::int64_t over;  ///< bit i: axis i is reduced
  reduction_kind kind;
};

/// The attributes of a normalization. Inputs: x; scale and offset, both or neither; the running averages of mean and
/// variance, if given. Outputs: y, mean and inverse deviation of x; then the next running averages.
struct normalization_attributes {
  std::int64_t over;  ///< bit i: statistics are taken over axis i
  /// The number of groups of neighboring channels into which axis 1 is divided, each with its own statistics. 1: the
  /// axis is not divided.
  std::int64_t groups;
  std::int64_t rms;          ///< 1: no mean is subtracted, and the second output is 0
  std::int64_t has_affine;   ///< 1: scale and offset are given; if rms, a scale alone
  std::int64_t has_running;  ///< 1: running averages are given
  double epsilon, momentum;  ///< next average = (1 - momentum) * running + momentum * current; the variance is unbiased
};
/// The attributes of a normalization's gradient. Inputs: dy, x, mean, inverse deviation, and the scale if there is one.
/// Outputs: dx, and with a scale dscale and, unless rms, doffset.
using normalization_gradient_attributes = normalization_attributes;

/// The attributes of softmax and its gradient.
struct softmax_attributes {
  std::int64_t over;         ///< the axis along which the exponentials are summed
  std::int64_t logarithmic;  ///< 1: the result is the logarithm
};
/// The attributes of a transposition: the order of axes.
struct transposition_attributes {
  std::int64_t from[8];  ///< axis i of the result is axis from[i] of the tensor
};
/// The attributes of a concatenation: the axis along which tensors are concatenated.
struct concatenation_attributes {
  std::int64_t along;
};
/// The attributes of a slice: its first element, along each axis.
struct slice_attributes {
  std::int64_t first[8];
};

/// Distributions of random numbers: uniform in [0, 1), standard normal, or 1 with a probability and otherwise 0.
enum class random_kind : std::int64_t { uniform, normal, bernoulli };
/// The attributes of random numbers. Input: none, or u32 or i32 words in memory, each lower word first: 2 words for the
/// seed, or 4 for the seed and a number that is added to the offset. See generator.hpp.
struct random_attributes {
  random_kind kind;
  std::uint64_t seed, offset;
  double probability;
};
/// The attributes of a normalization across channels, and of its gradient, whose inputs are dy and x: x / (k + alpha /
/// size * sum)^beta. The sum is that of the squares in `size` channels, (size - 1) / 2 of which precede the element's.
struct local_response_norm_attributes {
  std::int64_t size;
  double alpha, beta, k;
};
/// The attributes of a resampling and its gradient.
struct resampling_attributes {
  resampling_kind kind;
  std::int64_t aligned;  ///< 1: the centers of the corner elements coincide; 0: the outer corners do
};
// Pooling with indexes has pooling_attributes, and so has its gradient. Outputs: y, and for each of its elements the
// index of the maximum in its image, in row-major order. Inputs of the gradient: dy and these indexes.

/// The attributes of a quantization in blocks along an axis, and of its inverse. Outputs of a quantization, inputs of
/// the inverse: the elements, and a scale for each block.
struct block_attributes {
  std::int64_t along, block;
  dtype elements, scales;
  std::uint8_t unused[6];
};

/// The attributes of any node, stored as words.
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
