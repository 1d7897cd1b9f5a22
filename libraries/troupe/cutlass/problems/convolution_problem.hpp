// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <troupe/cutlass/convolution.hpp>
#include <troupe/cutlass/problems/problem.hpp>
#include <troupe/windows/geometry.hpp>
#include <troupe/windows/roles.hpp>

/// Convolutions as engines compute them.
namespace troupe::cutlass {

using windows::computed_tensor;

/// Images or filters in memory. Strides are in elements: between items (images or filters), between channels, and along
/// three spatial axes; with fewer axes, the first spatial strides are 0.
struct placed_tensor {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t item = 0, channel = 0;
  std::array<std::int64_t, windows::most_spatial> spatial{};
};

/// A convolution of x and filters with the result y; `result` is the tensor that is computed, as epilogue(product).
/// A paired epilogue halves the channels of the result.
struct convolution_problem : windows::convolution_geometry {
  computed_tensor result{};
  placed_tensor x, filters, y;
  dtype sums{};
  bool paired = false;
  product_options options;
  epilogue::tree tree;

  windows::convolution_roles<const placed_tensor&> tensors() const noexcept { return {x, filters, y}; }
  const placed_tensor& computed() const noexcept { return tensors().computed(result); }
};

convolution_problem problem_of(const conv_forward& r);
convolution_problem problem_of(const conv_data_gradient& r);
convolution_problem problem_of(const conv_weight_gradient& r);

/// A computed tensor as the matrices that its epilogue reads and writes.
struct matrices_of_result {
  matrix_shape one;  ///< shape of one matrix; a stride is 0 if rows or columns have no single stride
  std::int64_t count = 1, stride = 0;
  bool is_mergeable() const noexcept { return one.row_stride != 0 && one.column_stride != 0; }
};
/// Returns a matrix of positions x channels for each image.
matrices_of_result matrices_of_images(const tensor_shape& images) noexcept;
/// Returns a matrix of filters x elements of a filter, whose columns are in the order of `order_of_filter`.
matrices_of_result matrix_of_filters(const tensor_shape& filters) noexcept;

/// The axes of a filter, 1 to rank - 1, by descending stride.
struct filter_order {
  std::array<std::size_t, 1 + windows::most_spatial> axis{};
  std::size_t count = 0;
};
filter_order order_of_filter(const tensor_shape& filters) noexcept;

}  // namespace troupe::cutlass
