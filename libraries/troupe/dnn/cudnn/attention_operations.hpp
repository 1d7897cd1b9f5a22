// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/operation_graph.hpp>

namespace troupe::dnn::cudnn {

/// Attention as the operations that cuDNN's engines recognize. Tensors have the axes batch, heads, tokens and width,
/// and a half type.
struct attention_operations {
  using tensor = operation_graph::tensor_id;
  tensor_shape q, k, v;
  dtype type{};
  double scale = 1;
  std::optional<std::int64_t> left, right;  ///< keys that are visible before and after the diagonal; nullopt: all
  bool bottom_right = false;

  /// Adds the operations that compute y, and the statistics if given.
  void add_attention(operation_graph& to, tensor of_q, tensor of_k, tensor of_v, tensor y,
                     std::optional<tensor> statistics) const;
  /// The tensors of the gradient. k and v are `transposed`. `row_sums` and `dq_sums` are scratch memory in f32, with
  /// the shapes rows() and dq_sums(). Only without `dq_sums` are results the same in every run.
  struct gradient_tensors {
    tensor q, k, v, y, statistics, dy, dq, dk, dv, row_sums;
    std::optional<tensor> dq_sums;
  };
  /// Adds the operations that compute the gradients.
  void add_gradient(operation_graph& to, const gradient_tensors& g) const;

  /// Returns the shape with its last two axes exchanged. k is passed so to the first product, k and v to the gradient.
  static tensor_shape transposed(tensor_shape s) noexcept;
  tensor_shape scores() const noexcept;
  tensor_shape rows() const noexcept;
  tensor_shape dq_sums() const noexcept;

 private:
  tensor masked(operation_graph& to, tensor scores) const;
};

}  // namespace troupe::dnn::cudnn
