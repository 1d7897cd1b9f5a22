// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <troupe/dnn/attributes.hpp>
#include <troupe/dnn/cudnn/engines.hpp>
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
  tensor between(const tensor_shape& s, dtype type = dtype::f32) { return add(type, s, place::between); }
  /// A number, kept with the plan: a float, or an i32.
  tensor number(double n, dtype type = dtype::f32);

  /// A convolution or one of its gradients.
  void convolution(op what, const convolution_attributes& f, dtype compute, tensor a, tensor b, tensor to);
  /// A function of elements, of one to three tensors.
  struct function {
    cudnnPointwiseMode_t mode;
    dtype compute = dtype::f32;
    std::int64_t index = -1;  ///< of CUDNN_POINTWISE_GEN_INDEX
  };
  void pointwise(const function& f, std::initializer_list<tensor> of, tensor to);
  /// Matrices, the last two indexes.
  void product(tensor a, tensor b, tensor to);
  void reduce(cudnnReduceTensorOp_t how, tensor x, tensor to);
  void reshape(tensor x, tensor to);

  /// Returns all that was drawn, as bytes: part of a plan's key.
  const std::string& description() const noexcept { return description_; }
  /// Returns cuDNN's graph of what was drawn.
  result<descriptor> finish(cudnnHandle_t on) const;

  const std::vector<tensor>& arguments() const noexcept { return arguments_; }
  const std::vector<std::uint32_t>& numbers() const noexcept { return numbers_; }  ///< as they lie in memory
  const std::vector<tensor>& names_of_numbers() const noexcept { return names_of_numbers_; }

 private:
  enum class place { given, between, number };
  tensor add(dtype type, const tensor_shape& s, place where);
  void keep(descriptor d, bool is_operation);
  template <class... T>
  void describe(const T&... all) {
    (description_.append(reinterpret_cast<const char*>(&all), sizeof all), ...);
  }
  cudnnBackendDescriptor_t of(tensor t) const noexcept { return tensors_[static_cast<std::size_t>(t - 1)]; }

  std::vector<descriptor> made_;
  std::vector<cudnnBackendDescriptor_t> tensors_, operations_;
  std::vector<tensor> arguments_, names_of_numbers_;
  std::vector<std::uint32_t> numbers_;
  std::size_t rank_ = 0;  // of images
  std::string description_;
  std::optional<error> failed_;
};

/// cuDNN's name of a type; nothing if it has none.
std::optional<cudnnDataType_t> type_of(dtype t) noexcept;

}  // namespace troupe::dnn::cudnn
