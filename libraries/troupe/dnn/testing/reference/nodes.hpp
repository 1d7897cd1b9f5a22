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
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/windows/spatial.hpp>

/// The larger operations of the reference. Outputs must be 0 before the call.
namespace troupe::dnn::detail {

/// A view of a tensor's elements, in row-major order.
template <class Number>
struct tensor_values {
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

void convolve(const convolution_attributes& f, input_values x, input_values filters, output_values y);
void find_data_gradient(const convolution_attributes& f, input_values dy, input_values filters, output_values dx);
void find_weight_gradient(const convolution_attributes& f, input_values dy, input_values x, output_values dw);

void pool(const pooling_attributes& f, input_values x, output_values y);
/// Computes the gradient of a pooling. Only that of a maximum uses `x`.
void find_pooling_gradient(const pooling_attributes& f, input_values dy, input_values x, output_values dx);

/// Normalizes. Inputs and outputs are in the order that normalization_attributes documents.
void normalize(const normalization_attributes& f, std::span<const input_values> in, std::span<const output_values> out);
void find_normalization_gradient(const normalization_gradient_attributes& f, std::span<const input_values> in,
                                 std::span<const output_values> out);

/// Computes an attention. Inputs and outputs are in the order that attention_attributes documents.
void attend(const attention_attributes& f, std::span<const input_values> in, std::span<const output_values> out);
void find_attention_gradient(const attention_gradient_attributes& f, std::span<const input_values> in,
                             std::span<const output_values> out);
/// Generates random numbers. `in` is the seed's words, or empty.
void make_random(const random_attributes& f, std::span<const input_values> in, output_values y);

void normalize_responses(const local_response_norm_attributes& f, input_values x, output_values y);
void find_response_gradient(const local_response_norm_attributes& f, input_values dy, input_values x, output_values dx);

void resample(const resampling_attributes& f, input_values x, output_values y);
void find_resampling_gradient(const resampling_attributes& f, input_values dy, output_values dx);

void find_largest(const pooling_attributes& f, input_values x, output_values y, output_values indexes);
void find_index_gradient(const pooling_attributes& f, input_values dy, input_values indexes, output_values dx);

void quantize_blocks(const block_attributes& f, input_values x, output_values elements, output_values scales);
void dequantize_blocks(const block_attributes& f, input_values elements, input_values scales, output_values y);
void recur(const recurrence_attributes& f, std::span<const input_values> in, std::span<const output_values> out);
void find_recurrence_gradient(const recurrence_gradient_attributes& f, std::span<const input_values> in,
                              std::span<const output_values> out);

void find_ctc_loss(const ctc_attributes& f, std::span<const input_values> in, output_values losses);
void find_ctc_loss_gradient(const ctc_attributes& f, std::span<const input_values> in, output_values dlogits);

}  // namespace troupe::dnn::detail
