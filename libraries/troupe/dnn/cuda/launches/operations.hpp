// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/graph/op_table.hpp>

/// The operations that our own kernels compute as operator steps, by families.
namespace troupe::dnn {

result<void> enqueue_product(const operator_step& s, const execution_context& w);
result<void> enqueue_reduction(const operator_step& s, const execution_context& w);
result<void> enqueue_softmax(const operator_step& s, const execution_context& w);

result<void> enqueue_convolution(const operator_step& s, const execution_context& w);

result<void> enqueue_pooling(const operator_step& s, const execution_context& w);
result<void> enqueue_indexed_pooling(const operator_step& s, const execution_context& w);

result<void> enqueue_normalization(const operator_step& s, const execution_context& w);
result<void> enqueue_normalization_gradient(const operator_step& s, const execution_context& w);

result<void> enqueue_response_norm(const operator_step& s, const execution_context& w);

result<void> enqueue_resampling(const operator_step& s, const execution_context& w);

result<void> enqueue_block_scaling(const operator_step& s, const execution_context& w);

result<void> enqueue_attention(const operator_step& s, const execution_context& w);
result<void> enqueue_attention_gradient(const operator_step& s, const execution_context& w);

result<void> enqueue_recurrence(const operator_step& s, const execution_context& w);
result<void> enqueue_recurrence_gradient(const operator_step& s, const execution_context& w);

result<void> enqueue_ctc(const operator_step& s, const execution_context& w);

/// The function that enqueues each operation.
inline constexpr op_table<result<void> (*)(const operator_step&, const execution_context&), is_step> operations{{
    {op::product, enqueue_product},
    {op::reduction, enqueue_reduction},
    {op::softmax, enqueue_softmax},
    {op::softmax_gradient, enqueue_softmax},
    {op::convolution, enqueue_convolution},
    {op::convolution_data_gradient, enqueue_convolution},
    {op::convolution_weight_gradient, enqueue_convolution},
    {op::pooling, enqueue_pooling},
    {op::pooling_gradient, enqueue_pooling},
    {op::pooling_with_indexes, enqueue_indexed_pooling},
    {op::pooling_index_gradient, enqueue_indexed_pooling},
    {op::normalization, enqueue_normalization},
    {op::normalization_gradient, enqueue_normalization_gradient},
    {op::local_response_norm, enqueue_response_norm},
    {op::local_response_norm_gradient, enqueue_response_norm},
    {op::resampling, enqueue_resampling},
    {op::resampling_gradient, enqueue_resampling},
    {op::block_quantization, enqueue_block_scaling},
    {op::block_dequantization, enqueue_block_scaling},
    {op::attention, enqueue_attention},
    {op::attention_gradient, enqueue_attention_gradient},
    {op::recurrence, enqueue_recurrence},
    {op::recurrence_gradient, enqueue_recurrence_gradient},
    {op::ctc_loss, enqueue_ctc},
    {op::ctc_loss_gradient, enqueue_ctc},
}};

}  // namespace troupe::dnn
