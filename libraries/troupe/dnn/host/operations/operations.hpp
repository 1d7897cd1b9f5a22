// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/op_table.hpp>
#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/geometry.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// The operations that the host computes as operator steps, by families. All tensors are dense, and their elements are
/// of type N, except i32 tensors.
namespace troupe::dnn::host {

template <class N>
void multiply_matrices(const execution_context& w, const operator_step& step);
template <class N>
void reduce(const execution_context& w, const operator_step& step);
template <class N>
void softmax(const execution_context& w, const operator_step& step);
template <class N>
void softmax_gradient(const execution_context& w, const operator_step& step);

template <class N>
void convolve(const execution_context& w, const operator_step& step);
template <class N>
void convolution_data_gradient(const execution_context& w, const operator_step& step);
template <class N>
void convolution_weight_gradient(const execution_context& w, const operator_step& step);

template <class N>
void pool(const execution_context& w, const operator_step& step);
template <class N>
void pool_gradient(const execution_context& w, const operator_step& step);
template <class N>
void pool_with_indexes(const execution_context& w, const operator_step& step);
template <class N>
void pool_index_gradient(const execution_context& w, const operator_step& step);

template <class N>
void normalize(const execution_context& w, const operator_step& step);
template <class N>
void normalization_gradient(const execution_context& w, const operator_step& step);

template <class N>
void normalize_responses(const execution_context& w, const operator_step& step);
template <class N>
void response_gradient(const execution_context& w, const operator_step& step);

template <class N>
void resample(const execution_context& w, const operator_step& step);
template <class N>
void resampling_gradient(const execution_context& w, const operator_step& step);

template <class N>
void quantize_blocks(const execution_context& w, const operator_step& step);
template <class N>
void dequantize_blocks(const execution_context& w, const operator_step& step);

template <class N>
void attend(const execution_context& w, const operator_step& step);
template <class N>
void attention_gradient(const execution_context& w, const operator_step& step);

template <class N>
void recur(const execution_context& w, const operator_step& step);
template <class N>
void recurrence_gradient(const execution_context& w, const operator_step& step);

template <class N>
void ctc_loss(const execution_context& w, const operator_step& step);
template <class N>
void ctc_loss_gradient(const execution_context& w, const operator_step& step);

/// The function that computes each operation.
template <class N>
inline constexpr op_table<void (*)(const execution_context&, const operator_step&), is_step> operations{{
    {op::product, host::multiply_matrices<N>},
    {op::reduction, host::reduce<N>},
    {op::softmax, host::softmax<N>},
    {op::softmax_gradient, host::softmax_gradient<N>},
    {op::convolution, host::convolve<N>},
    {op::convolution_data_gradient, host::convolution_data_gradient<N>},
    {op::convolution_weight_gradient, host::convolution_weight_gradient<N>},
    {op::pooling, host::pool<N>},
    {op::pooling_gradient, host::pool_gradient<N>},
    {op::pooling_with_indexes, host::pool_with_indexes<N>},
    {op::pooling_index_gradient, host::pool_index_gradient<N>},
    {op::normalization, host::normalize<N>},
    {op::normalization_gradient, host::normalization_gradient<N>},
    {op::local_response_norm, host::normalize_responses<N>},
    {op::local_response_norm_gradient, host::response_gradient<N>},
    {op::resampling, host::resample<N>},
    {op::resampling_gradient, host::resampling_gradient<N>},
    {op::block_quantization, host::quantize_blocks<N>},
    {op::block_dequantization, host::dequantize_blocks<N>},
    {op::attention, host::attend<N>},
    {op::attention_gradient, host::attention_gradient<N>},
    {op::recurrence, host::recur<N>},
    {op::recurrence_gradient, host::recurrence_gradient<N>},
    {op::ctc_loss, host::ctc_loss<N>},
    {op::ctc_loss_gradient, host::ctc_loss_gradient<N>},
}};

}  // namespace troupe::dnn::host
