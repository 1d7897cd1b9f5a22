// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/cumulative/attributes.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/testing/reference/nodes.hpp>
#include <troupe/dnn/testing/reference/op_table.hpp>

/// The table of the reference: what each operation means, and where rounding errors arise.
namespace troupe::dnn::detail {

/// Where rounding errors of f32 or f64 arise: nowhere, because elements are copied; in the result; or also in sums of
/// the inputs, so that results for inputs that differ by a rounding error are as correct.
enum class rounding : std::uint8_t { none, result, sums };

/// The meaning of an operation.
struct definition {
  void (*compute)(const node_attributes&, inputs, outputs) = nullptr;
  rounding where = rounding::none;
};

template <class F, void (*Compute)(const F&, inputs, outputs)>
void by(const node_attributes& attributes, inputs in, outputs out) {
  Compute(attributes.as<F>(), in, out);
}

// The definitions, by families. Inputs and outputs have the order that the attributes document. Outputs must be 0
// before the call.

void round_to_type(const no_attributes&, inputs in, outputs out);
void compute_pointwise(const pointwise_attributes& a, inputs in, outputs out);

void make_random(const random_attributes& a, inputs in, outputs out);

void count_along(const iota_attributes& a, inputs in, outputs out);

void gather(const gather_attributes& a, inputs in, outputs out);
void scatter(const gather_attributes& a, inputs in, outputs out);

void add_along(const cumulative_attributes& a, inputs in, outputs out);
void select_extremes(const selection_attributes& a, inputs in, outputs out);

void reshape(const no_attributes&, inputs in, outputs out);
void transpose(const transposition_attributes& a, inputs in, outputs out);
void concatenate(const concatenation_attributes& a, inputs in, outputs out);
void take_slice(const slice_attributes& a, inputs in, outputs out);

void multiply(const no_attributes&, inputs in, outputs out);
void reduce(const reduction_attributes& a, inputs in, outputs out);
void compute_softmax(const softmax_attributes& a, inputs in, outputs out);
void find_softmax_gradient(const softmax_attributes& a, inputs in, outputs out);

void convolve(const convolution_attributes& a, inputs in, outputs out);
void find_data_gradient(const convolution_attributes& a, inputs in, outputs out);
void find_weight_gradient(const convolution_attributes& a, inputs in, outputs out);

void pool(const pooling_attributes& a, inputs in, outputs out);
void find_pooling_gradient(const pooling_attributes& a, inputs in, outputs out);
void find_largest(const pooling_attributes& a, inputs in, outputs out);
void find_index_gradient(const pooling_attributes& a, inputs in, outputs out);

void normalize(const normalization_attributes& a, inputs in, outputs out);
void find_normalization_gradient(const normalization_gradient_attributes& a, inputs in, outputs out);

void normalize_responses(const local_response_norm_attributes& a, inputs in, outputs out);
void find_response_gradient(const local_response_norm_attributes& a, inputs in, outputs out);

void resample(const resampling_attributes& a, inputs in, outputs out);
void find_resampling_gradient(const resampling_attributes& a, inputs in, outputs out);

void quantize_blocks(const block_attributes& a, inputs in, outputs out);
void dequantize_blocks(const block_attributes& a, inputs in, outputs out);

void attend(const attention_attributes& a, inputs in, outputs out);
void find_attention_gradient(const attention_gradient_attributes& a, inputs in, outputs out);

void recur(const recurrence_attributes& a, inputs in, outputs out);
void find_recurrence_gradient(const recurrence_gradient_attributes& a, inputs in, outputs out);

void find_ctc_loss(const ctc_attributes& a, inputs in, outputs out);
void find_ctc_loss_gradient(const ctc_attributes& a, inputs in, outputs out);

inline constexpr op_table<definition> definitions{{
    {op::write, {by<no_attributes, round_to_type>, rounding::none}},
    {op::convert, {by<no_attributes, round_to_type>, rounding::none}},
    {op::pointwise, {by<pointwise_attributes, compute_pointwise>, rounding::result}},
    {op::random, {by<random_attributes, make_random>, rounding::result}},
    {op::iota, {by<iota_attributes, count_along>, rounding::none}},
    {op::gather, {by<gather_attributes, gather>, rounding::none}},
    {op::scatter_add, {by<gather_attributes, scatter>, rounding::sums}},
    {op::cumulative_sum, {by<cumulative_attributes, add_along>, rounding::sums}},
    {op::top_k, {by<selection_attributes, select_extremes>, rounding::none}},
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
