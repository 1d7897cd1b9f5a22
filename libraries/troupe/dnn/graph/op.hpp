// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

/// The operations of a graph's nodes, see docs/dnn.md.
namespace troupe::dnn {

/// The operation of a node. The numbers are sent between processes and stored with plans: add at the end.
enum class op : std::uint8_t {
  none = 0,
  write,      ///< to memory, rounded to the memory's type
  convert,    ///< rounds to a type
  pointwise,  ///< one of epilogue::op, of tensors whose extents are equal or 1
  convolution,
  convolution_data_gradient,
  convolution_weight_gradient,
  product,    ///< of matrices, the last two axes
  reduction,  ///< over some axes, whose extents become 1
  normalization,
  normalization_gradient,
  pooling,
  pooling_gradient,
  softmax,
  softmax_gradient,
  reshape,        ///< the same elements in row-major order, with other extents
  transposition,  ///< another order of axes
  concatenation,
  slice,
  attention,
  attention_gradient,
  random,
  local_response_norm,
  local_response_norm_gradient,
  resampling,
  resampling_gradient,
  pooling_with_indexes,
  pooling_index_gradient,
  block_quantization,
  block_dequantization,
  recurrence,  ///< a layer of cells, step by step in one direction
  recurrence_gradient,
  ctc_loss,  ///< connectionist temporal classification, see ctc.hpp
  ctc_loss_gradient,
};

/// The way in which engines compute an operation: together with other elements, not at all because its result is
/// another view of the same elements, or in a step of its own.
enum class op_kind : std::uint8_t { elementwise, view, step };

/// The name of an operation, its kind, and how many inputs and outputs its nodes may have.
struct op_info {
  std::string_view name;
  op_kind kind;
  std::uint8_t least_inputs, most_inputs, least_outputs, most_outputs;
};
inline constexpr op_info op_infos[] = {
    {"none", op_kind::view, 0, 0, 0, 0},
    {"write", op_kind::elementwise, 1, 1, 1, 1},
    {"convert", op_kind::elementwise, 1, 1, 1, 1},
    {"pointwise", op_kind::elementwise, 1, 3, 1, 1},
    {"convolution", op_kind::step, 2, 2, 1, 1},
    {"convolution_data_gradient", op_kind::step, 2, 2, 1, 1},
    {"convolution_weight_gradient", op_kind::step, 2, 2, 1, 1},
    {"product", op_kind::step, 2, 2, 1, 1},
    {"reduction", op_kind::step, 1, 1, 1, 1},
    {"normalization", op_kind::step, 1, 5, 3, 5},
    {"normalization_gradient", op_kind::step, 4, 5, 1, 3},
    {"pooling", op_kind::step, 1, 1, 1, 1},
    {"pooling_gradient", op_kind::step, 1, 2, 1, 1},
    {"softmax", op_kind::step, 1, 1, 1, 1},
    {"softmax_gradient", op_kind::step, 2, 2, 1, 1},
    {"reshape", op_kind::view, 1, 1, 1, 1},
    {"transposition", op_kind::view, 1, 1, 1, 1},
    {"concatenation", op_kind::view, 1, 8, 1, 1},
    {"slice", op_kind::view, 1, 1, 1, 1},
    {"attention", op_kind::step, 3, 8, 2, 2},
    {"attention_gradient", op_kind::step, 6, 10, 3, 4},
    {"random", op_kind::elementwise, 0, 1, 1, 1},
    {"local_response_norm", op_kind::step, 1, 1, 1, 1},
    {"local_response_norm_gradient", op_kind::step, 2, 2, 1, 1},
    {"resampling", op_kind::step, 1, 1, 1, 1},
    {"resampling_gradient", op_kind::step, 1, 1, 1, 1},
    {"pooling_with_indexes", op_kind::step, 1, 1, 2, 2},
    {"pooling_index_gradient", op_kind::step, 2, 2, 1, 1},
    {"block_quantization", op_kind::step, 1, 1, 2, 2},
    {"block_dequantization", op_kind::step, 2, 2, 1, 1},
    {"recurrence", op_kind::step, 3, 9, 3, 4},
    {"recurrence_gradient", op_kind::step, 5, 9, 3, 8},
    {"ctc_loss", op_kind::step, 4, 4, 1, 1},
    {"ctc_loss_gradient", op_kind::step, 5, 5, 1, 1},
};
inline constexpr std::size_t op_count = std::size(op_infos);  ///< with op::none

/// Returns true if the value, which may come from another process, is an operation.
constexpr bool is_known(op o) noexcept { return o != op::none && static_cast<std::size_t>(o) < op_count; }
constexpr const op_info& info(op o) noexcept { return op_infos[is_known(o) ? static_cast<std::size_t>(o) : 0]; }
constexpr std::string_view to_string(op o) noexcept { return info(o).name; }

/// Returns true if engines compute the operation in steps of its own.
constexpr bool is_step(op o) noexcept { return info(o).kind == op_kind::step; }
/// Returns true if the result has the same elements as the inputs.
constexpr bool is_view(op o) noexcept { return info(o).kind == op_kind::view; }
constexpr bool is_elementwise(op o) noexcept { return info(o).kind == op_kind::elementwise; }

}  // namespace troupe::dnn
