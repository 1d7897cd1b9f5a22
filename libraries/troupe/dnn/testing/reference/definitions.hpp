// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/op_table.hpp>
#include <troupe/dnn/testing/reference/nodes.hpp>

/// The table of the reference: what each operation means, and where an engine rounds.
namespace troupe::dnn::detail {

/// Where an engine rounds to f32 or f64: nowhere, because it copies elements; its result; or also its inputs' sums, so
/// that sums of inputs that differ by a rounding error are as correct.
enum class rounding : std::uint8_t { none, result, sums };

struct definition {
  void (*compute)(const node_attributes&, inputs, outputs) = nullptr;
  rounding where = rounding::none;
};

template <class F, void (*Compute)(const F&, inputs, outputs)>
void by(const node_attributes& attributes, inputs in, outputs out) {
  Compute(attributes.as<F>(), in, out);
}

inline constexpr op_table<definition> definitions{{
    {op::write, {by<no_attributes, round_to_type>, rounding::none}},
    {op::convert, {by<no_attributes, round_to_type>, rounding::none}},
    {op::pointwise, {by<pointwise_attributes, compute_pointwise>, rounding::result}},
    {op::random, {by<random_attributes, make_random>, rounding::result}},
    {op::reshape, {by<no_attributes, reshape>, rounding::none}},
    {op::transposition, {by<transposition_attributes, transpose>, rounding::none}},
    {op::concatenation, {by<concatenation_attributes, concatenate>, rounding::none}},
    {op::slice, {by<slice_attributes, take_slice>, rounding::none}},
    {op::product, {by<no_attributes, multiply>, rounding::sums}},
    {op::reduction, {by<reduction_attributes, reduce>, rounding::sums}},
    {op::softmax, {by<softmax_attributes, compute_softmax>, rounding::sums}},
    {op::softmax_gradient, {by<softmax_attributes, find_softmax_gradient>, rounding::sums}},
    {op::convolution, {by<convolution_attributes, convolve>, rounding::sums}},
    {op::convolution_data_gradient, {by<convolution_attributes, find_data_gradient>, rounding::sums}},
    {op::convolution_weight_gradient, {by<convolution_attributes, find_weight_gradient>, rounding::sums}},
    {op::pooling, {by<pooling_attributes, pool>, rounding::sums}},
    {op::pooling_gradient, {by<pooling_attributes, find_pooling_gradient>, rounding::result}},
    {op::pooling_with_indexes, {by<pooling_attributes, find_largest>, rounding::result}},
    {op::pooling_index_gradient, {by<pooling_attributes, find_index_gradient>, rounding::result}},
    {op::normalization, {by<normalization_attributes, normalize>, rounding::sums}},
    {op::normalization_gradient, {by<normalization_gradient_attributes, find_normalization_gradient>, rounding::sums}},
    {op::local_response_norm, {by<local_response_norm_attributes, normalize_responses>, rounding::sums}},
    {op::local_response_norm_gradient, {by<local_response_norm_attributes, find_response_gradient>, rounding::sums}},
    {op::resampling, {by<resampling_attributes, resample>, rounding::sums}},
    {op::resampling_gradient, {by<resampling_attributes, find_resampling_gradient>, rounding::sums}},
    {op::block_quantization, {by<block_attributes, quantize_blocks>, rounding::result}},
    {op::block_dequantization, {by<block_attributes, dequantize_blocks>, rounding::result}},
    {op::attention, {by<attention_attributes, attend>, rounding::sums}},
    {op::attention_gradient, {by<attention_gradient_attributes, find_attention_gradient>, rounding::sums}},
    {op::recurrence, {by<recurrence_attributes, recur>, rounding::sums}},
    {op::recurrence_gradient, {by<recurrence_gradient_attributes, find_recurrence_gradient>, rounding::sums}},
    {op::ctc_loss, {by<ctc_attributes, find_ctc_loss>, rounding::sums}},
    {op::ctc_loss_gradient, {by<ctc_attributes, find_ctc_loss_gradient>, rounding::sums}},
}};

}  // namespace troupe::dnn::detail
