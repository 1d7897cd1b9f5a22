// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/op_table.hpp>
#include <troupe/dnn/graph/without_elements.hpp>

/// The table of what the application needs to know of each operation, a family at a time.
namespace troupe::dnn::detail {

class node_differentiation;

void differentiate_conversion(node_differentiation& d);
void differentiate_pointwise(node_differentiation& d);
void differentiate_reshape(node_differentiation& d);
void differentiate_transposition(node_differentiation& d);
void differentiate_concatenation(node_differentiation& d);
void differentiate_slice(node_differentiation& d);
void differentiate_product(node_differentiation& d);
void differentiate_reduction(node_differentiation& d);
known_output reduction_of_nothing(const producer& p, std::size_t output);
void differentiate_softmax(node_differentiation& d);
void differentiate_convolution(node_differentiation& d);
void differentiate_pooling(node_differentiation& d);
void differentiate_pooling_with_indexes(node_differentiation& d);
void differentiate_normalization(node_differentiation& d);
known_output normalization_of_nothing(const producer& p, std::size_t output);
void differentiate_local_response_norm(node_differentiation& d);
void differentiate_resampling(node_differentiation& d);
void differentiate_attention(node_differentiation& d);
known_output attention_of_nothing(const producer& p, std::size_t output);
void differentiate_recurrence(node_differentiation& d);
known_output recurrence_of_nothing(const producer& p, std::size_t output);
known_output recurrence_gradient_of_nothing(const producer& p, std::size_t output);
void differentiate_ctc_loss(node_differentiation& d);

struct operation {
  /// Sets the gradients of the inputs; null if the operation has no derivative.
  void (*differentiate)(node_differentiation& d) = nullptr;
  /// See output_of_nothing; null if it is a sum of nothing, 0.
  known_output (*output_of_nothing)(const producer& p, std::size_t output) = nullptr;
};

inline constexpr op_table<operation> operations{{
    {op::write, {}},
    {op::convert, {differentiate_conversion}},
    {op::pointwise, {differentiate_pointwise}},
    {op::random, {}},
    {op::reshape, {differentiate_reshape}},
    {op::transposition, {differentiate_transposition}},
    {op::concatenation, {differentiate_concatenation}},
    {op::slice, {differentiate_slice}},
    {op::product, {differentiate_product}},
    {op::reduction, {differentiate_reduction, reduction_of_nothing}},
    {op::softmax, {differentiate_softmax}},
    {op::softmax_gradient, {}},
    {op::convolution, {differentiate_convolution}},
    {op::convolution_data_gradient, {differentiate_convolution}},
    {op::convolution_weight_gradient, {differentiate_convolution}},
    {op::pooling, {differentiate_pooling}},
    {op::pooling_gradient, {}},
    {op::pooling_with_indexes, {differentiate_pooling_with_indexes}},
    {op::pooling_index_gradient, {}},
    {op::normalization, {differentiate_normalization, normalization_of_nothing}},
    {op::normalization_gradient, {}},
    {op::local_response_norm, {differentiate_local_response_norm}},
    {op::local_response_norm_gradient, {}},
    {op::resampling, {differentiate_resampling}},
    {op::resampling_gradient, {}},
    {op::block_quantization, {}},
    {op::block_dequantization, {}},
    {op::attention, {differentiate_attention, attention_of_nothing}},
    {op::attention_gradient, {}},
    {op::recurrence, {differentiate_recurrence, recurrence_of_nothing}},
    {op::recurrence_gradient, {nullptr, recurrence_gradient_of_nothing}},
    {op::ctc_loss, {differentiate_ctc_loss}},
    {op::ctc_loss_gradient, {}},
}};

}  // namespace troupe::dnn::detail
