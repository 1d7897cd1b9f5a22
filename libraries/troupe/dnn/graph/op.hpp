// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

/// The name of an operation, and how many inputs and outputs its nodes may have.
struct op_info {
  std::string_view name;
  std::uint8_t least_inputs, most_inputs, least_outputs, most_outputs;
};
inline constexpr op_info op_table[] = {
    {"none", 0, 0, 0, 0},
    {"write", 1, 1, 1, 1},
    {"convert", 1, 1, 1, 1},
    {"pointwise", 1, 3, 1, 1},
    {"convolution", 2, 2, 1, 1},
    {"convolution_data_gradient", 2, 2, 1, 1},
    {"convolution_weight_gradient", 2, 2, 1, 1},
    {"product", 2, 2, 1, 1},
    {"reduction", 1, 1, 1, 1},
    {"normalization", 1, 5, 3, 5},
    {"normalization_gradient", 4, 5, 1, 3},
    {"pooling", 1, 1, 1, 1},
    {"pooling_gradient", 1, 2, 1, 1},
    {"softmax", 1, 1, 1, 1},
    {"softmax_gradient", 2, 2, 1, 1},
    {"reshape", 1, 1, 1, 1},
    {"transposition", 1, 1, 1, 1},
    {"concatenation", 1, 8, 1, 1},
    {"slice", 1, 1, 1, 1},
    {"attention", 3, 8, 2, 2},
    {"attention_gradient", 6, 10, 3, 4},
    {"random", 0, 1, 1, 1},
    {"local_response_norm", 1, 1, 1, 1},
    {"local_response_norm_gradient", 2, 2, 1, 1},
    {"resampling", 1, 1, 1, 1},
    {"resampling_gradient", 1, 1, 1, 1},
    {"pooling_with_indexes", 1, 1, 2, 2},
    {"pooling_index_gradient", 2, 2, 1, 1},
    {"block_quantization", 1, 1, 2, 2},
    {"block_dequantization", 2, 2, 1, 1},
    {"recurrence", 3, 9, 3, 4},
    {"recurrence_gradient", 5, 9, 3, 8},
    {"ctc_loss", 4, 4, 1, 1},
    {"ctc_loss_gradient", 5, 5, 1, 1},
};

/// Returns true if the value, which may come from another process, is an operation.
constexpr bool is_known(op o) noexcept { return o != op::none && o <= op::ctc_loss_gradient; }
constexpr const op_info& info(op o) noexcept { return op_table[is_known(o) ? static_cast<std::size_t>(o) : 0]; }
constexpr std::string_view to_string(op o) noexcept { return info(o).name; }

}  // namespace troupe::dnn
