// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/operations.hpp>

namespace troupe::dnn::cudnn {

/// Attention as cuDNN's engines know it: batch x heads x tokens x width, in a half type.
struct attention_drawing {
  using tensor = operations::tensor;
  tensor_shape q, k, v;
  dtype type{};
  double scale = 1;
  std::optional<std::int64_t> left, right;  ///< keys before and after the diagonal that a query sees
  bool bottom_right = false;

  /// Draws y, and the statistics if they are wanted. The tensors are given.
  void forward(operations& d, tensor of_q, tensor of_k, tensor of_v, tensor y, std::optional<tensor> statistics) const;
  /// Draws the gradients. k and v are given as `turned`. Sums that take memory: rows() in float, and `sums_of_q()`,
  /// without which they are the same each time.
  struct gradient {
    tensor q, k, v, y, statistics, dy, dq, dk, dv, row_sums;
    std::optional<tensor> sums_of_q;
  };
  void backward(operations& d, const gradient& g) const;

  /// k as the first product wants it, v as its gradient does.
  static tensor_shape turned(tensor_shape s) noexcept;
  tensor_shape scores() const noexcept;
  tensor_shape rows() const noexcept;
  tensor_shape sums_of_q() const noexcept;  ///< without gaps, in float

 private:
  tensor masked(operations& d, tensor scores) const;
};

}  // namespace troupe::dnn::cudnn
