// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/cudnn/engines.hpp>
#include <troupe/dnn/forms.hpp>
#include <troupe/dnn/op.hpp>
#include <troupe/request/view_shape.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// One of cuDNN's graphs, while it is drawn. Keeps the first failure.
class operations {
 public:
  using tensor = std::int64_t;  ///< its name in a variant pack

  /// Tensors in memory without gaps, in the order in which their addresses are given.
  tensor given(dtype type, const tensor_shape& s) { return add(type, s, place::given); }
  /// What is only between operations.
  tensor between(const tensor_shape& s) { return add(dtype::f32, s, place::between); }
  /// A number, kept with the plan.
  tensor number(double n);

  /// A convolution or one of its gradients.
  void convolution(op what, const convolution_form& f, dtype compute, tensor a, tensor b, tensor to);
  void pointwise(cudnnPointwiseMode_t mode, tensor x, std::optional<tensor> other, tensor to);

  /// Returns cuDNN's graph of what was drawn.
  result<descriptor> finish(const chip& on) const;

  const std::vector<tensor>& arguments() const noexcept { return arguments_; }
  const std::vector<float>& numbers() const noexcept { return numbers_; }
  const std::vector<tensor>& names_of_numbers() const noexcept { return names_of_numbers_; }

 private:
  enum class place { given, between, number };
  tensor add(dtype type, const tensor_shape& s, place where);
  void keep(descriptor d, bool is_operation);

  std::vector<descriptor> made_;
  std::vector<cudnnBackendDescriptor_t> tensors_, operations_;
  std::vector<tensor> arguments_, names_of_numbers_;
  std::vector<float> numbers_;
  std::size_t rank_ = 0;  // of images
  std::optional<error> failed_;
};

/// cuDNN's name of a type; nothing if it has none.
std::optional<cudnnDataType_t> type_of(dtype t) noexcept;

}  // namespace troupe::dnn::cudnn
