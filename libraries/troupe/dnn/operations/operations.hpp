// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/graph/op_table.hpp>
#include <troupe/dnn/graph/without_elements.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>

/// The table of what all parts need to know of each operation, a family at a time: see op.hpp for its name and kind.
/// What engines do with it stands in tables of theirs: host/operations/operations.hpp, cuda/launches/operations.hpp.
namespace troupe::dnn {

/// What the attributes of an operation determine.
struct attribute_rules {
  bool (*is_sound)(const encoded_node& n) noexcept = nullptr;
  std::size_t (*count_value_inputs)(const encoded_node& n) noexcept = nullptr;
};

namespace detail {

template <class F>
bool has_sound_attributes(const encoded_node& n) noexcept {
  return is_sound(n.what, n.attributes.as<F>(), {n.input_count, n.output_count});
}
template <class F>
std::size_t value_inputs_of(const encoded_node& n) noexcept {
  return count_value_inputs(n.what, n.attributes.as<F>(), {n.input_count, n.output_count});
}
/// The rules of operations with attributes F.
template <class F>
inline constexpr attribute_rules rules_of{&has_sound_attributes<F>, &value_inputs_of<F>};

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

/// What is known of an operation.
struct operation {
  attribute_rules rules;
  /// Sets the gradients of the inputs; null if the operation has no derivative.
  void (*differentiate)(node_differentiation& d) = nullptr;
  /// See output_of_nothing; null if it is a sum of nothing, 0.
  known_output (*output_of_nothing)(const producer& p, std::size_t output) = nullptr;
};

inline constexpr op_table<operation> operations{{
    {op::write, {rules_of<no_attributes>}},
    {op::convert, {rules_of<no_attributes>, differentiate_conversion}},
    {op::pointwise, {rules_of<pointwise_attributes>, differentiate_pointwise}},
    {op::random, {rules_of<random_attributes>}},
    {op::reshape, {rules_of<no_attributes>, differentiate_reshape}},
    {op::transposition, {rules_of<transposition_attributes>, differentiate_transposition}},
    {op::concatenation, {rules_of<concatenation_attributes>, differentiate_concatenation}},
    {op::slice, {rules_of<slice_attributes>, differentiate_slice}},
    {op::product, {rules_of<no_attributes>, differentiate_product}},
    {op::reduction, {rules_of<reduction_attributes>, differentiate_reduction, reduction_of_nothing}},
    {op::softmax, {rules_of<softmax_attributes>, differentiate_softmax}},
    {op::softmax_gradient, {rules_of<softmax_attributes>}},
    {op::convolution, {rules_of<convolution_attributes>, differentiate_convolution}},
    {op::convolution_data_gradient, {rules_of<convolution_attributes>, differentiate_convolution}},
    {op::convolution_weight_gradient, {rules_of<convolution_attributes>, differentiate_convolution}},
    {op::pooling, {rules_of<pooling_attributes>, differentiate_pooling}},
    {op::pooling_gradient, {rules_of<pooling_attributes>}},
    {op::pooling_with_indexes, {rules_of<pooling_attributes>, differentiate_pooling_with_indexes}},
    {op::pooling_index_gradient, {rules_of<pooling_attributes>}},
    {op::normalization, {rules_of<normalization_attributes>, differentiate_normalization, normalization_of_nothing}},
    {op::normalization_gradient, {rules_of<normalization_gradient_attributes>}},
    {op::local_response_norm, {rules_of<local_response_norm_attributes>, differentiate_local_response_norm}},
    {op::local_response_norm_gradient, {rules_of<local_response_norm_attributes>}},
    {op::resampling, {rules_of<resampling_attributes>, differentiate_resampling}},
    {op::resampling_gradient, {rules_of<resampling_attributes>}},
    {op::block_quantization, {rules_of<block_attributes>}},
    {op::block_dequantization, {rules_of<block_attributes>}},
    {op::attention, {rules_of<attention_attributes>, differentiate_attention, attention_of_nothing}},
    {op::attention_gradient, {rules_of<attention_gradient_attributes>}},
    {op::recurrence, {rules_of<recurrence_attributes>, differentiate_recurrence, recurrence_of_nothing}},
    {op::recurrence_gradient, {rules_of<recurrence_gradient_attributes>, nullptr, recurrence_gradient_of_nothing}},
    {op::ctc_loss, {rules_of<ctc_attributes>, differentiate_ctc_loss}},
    {op::ctc_loss_gradient, {rules_of<ctc_attributes>}},
}};

}  // namespace detail

}  // namespace troupe::dnn
