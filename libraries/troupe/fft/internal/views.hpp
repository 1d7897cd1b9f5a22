// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <troupe/fft/views.hpp>

/// Converts the strides of tensors to layouts in buffers.
namespace troupe::fft {

/// One side of a transform.
struct laid_out {
  shape n;
  extent batch;
  layout where;
};

/// The order of the axes of both tensors: first the axes of the batch, then those of the transform, each group sorted
/// by stride, so that tensors may be stored in any order. The last axis of a real side keeps its position.
class index_order {
 public:
  /// Precondition: `dimensions` is 1 to 3, and at most the tensor's rank.
  index_order(const tensor_shape& s, std::size_t dimensions, bool keeps_last) noexcept;

  std::size_t dimensions() const noexcept { return dimensions_; }
  std::span<const std::size_t> all() const noexcept { return std::span(indexes_).first(rank_); }

 private:
  std::array<std::size_t, tensor_shape::max_rank> indexes_{};
  std::size_t rank_, dimensions_;
};

/// Returns nullopt if no layout, with its one stride and one distance, describes the positions of the elements.
std::optional<laid_out> lay_out(const tensor_shape& s, const index_order& order) noexcept;

}  // namespace troupe::fft
