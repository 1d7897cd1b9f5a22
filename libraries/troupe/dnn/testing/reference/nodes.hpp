// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/dnn/graph/tensor_index.hpp>
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
#include <troupe/dnn/operations/windows/spatial.hpp>

/// The definition of each operation. Outputs must be 0 before the call.
namespace troupe::dnn::detail {

/// A view of a tensor's elements, in row-major order.
template <class Number>
struct tensor_values {
  dtype type;
  tensor_shape shape;
  std::span<Number> numbers;

  /// Returns the element at an index. The index along axes of extent 1 is ignored, so that the tensor is broadcast.
  Number& operator[](const tensor_index& at) const noexcept {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < shape.rank; ++i)
      position = position * shape.extents[i] + (shape.extents[i] == 1 ? 0 : at[i]);
    return numbers[static_cast<std::size_t>(position)];
  }
};
using input_values = tensor_values<const double>;
using output_values = tensor_values<double>;

using inputs = std::span<const input_values>;
using outputs = std::span<const output_values>;

// The definitions, a family at a time. Inputs and outputs are in the order that the attributes document.

void round_to_type(const no_attributes&, inputs in, outputs out);
void compute_pointwise(const pointwise_attributes& f, inputs in, outputs out);

void make_random(const random_attributes& f, inputs in, outputs out);

void reshape(const no_attributes&, inputs in, outputs out);
void transpose(const transposition_attributes& f, inputs in, outputs out);
void concatenate(const concatenation_attributes& f, inputs in, outputs out);
void take_slice(const slice_attributes& f, inputs in, outputs out);

void multiply(const no_attributes&, inputs in, outputs out);
void reduce(const reduction_attributes& f, inputs in, outputs out);
void compute_softmax(const softmax_attributes& f, inputs in, outputs out);
void find_softmax_gradient(const softmax_attributes& f, inputs in, outputs out);

void convolve(const convolution_attributes& f, inputs in, outputs out);
void find_data_gradient(const convolution_attributes& f, inputs in, outputs out);
void find_weight_gradient(const convolution_attributes& f, inputs in, outputs out);

void pool(const pooling_attributes& f, inputs in, outputs out);
void find_pooling_gradient(const pooling_attributes& f, inputs in, outputs out);
void find_largest(const pooling_attributes& f, inputs in, outputs out);
void find_index_gradient(const pooling_attributes& f, inputs in, outputs out);

void normalize(const normalization_attributes& f, inputs in, outputs out);
void find_normalization_gradient(const normalization_gradient_attributes& f, inputs in, outputs out);

void normalize_responses(const local_response_norm_attributes& f, inputs in, outputs out);
void find_response_gradient(const local_response_norm_attributes& f, inputs in, outputs out);

void resample(const resampling_attributes& f, inputs in, outputs out);
void find_resampling_gradient(const resampling_attributes& f, inputs in, outputs out);

void quantize_blocks(const block_attributes& f, inputs in, outputs out);
void dequantize_blocks(const block_attributes& f, inputs in, outputs out);

void attend(const attention_attributes& f, inputs in, outputs out);
void find_attention_gradient(const attention_gradient_attributes& f, inputs in, outputs out);

void recur(const recurrence_attributes& f, inputs in, outputs out);
void find_recurrence_gradient(const recurrence_gradient_attributes& f, inputs in, outputs out);

void find_ctc_loss(const ctc_attributes& f, inputs in, outputs out);
void find_ctc_loss_gradient(const ctc_attributes& f, inputs in, outputs out);

}  // namespace troupe::dnn::detail
