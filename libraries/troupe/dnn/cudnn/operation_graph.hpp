// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/cudnn/backend.hpp>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/request/operands/view_shape.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// An operation graph of cuDNN: tensors, and operations on them. If one of the other functions fails, make_descriptor()
/// returns the first failure.
class operation_graph {
 public:
  using tensor_id = std::int64_t;  ///< unique id of a tensor in a variant pack

  /// Adds a tensor in memory. Addresses in a variant pack have the order of these calls.
  tensor_id argument(dtype type, const tensor_shape& s) { return add(type, s, place::argument); }
  /// Adds a virtual tensor, which exists only between operations.
  tensor_id intermediate(const tensor_shape& s, dtype type = dtype::f32) { return add(type, s, place::intermediate); }
  /// Adds a number by value, as f32 or i32. It is stored with the plan.
  tensor_id constant(double n, dtype type = dtype::f32);

  /// Adds a convolution or one of its gradients.
  void convolution(op what, const convolution_attributes& attributes, dtype compute, tensor_id a, tensor_id b,
                   tensor_id to);
  /// An elementwise function of one to three tensors.
  struct function {
    cudnnPointwiseMode_t mode;
    dtype compute = dtype::f32;
    std::int64_t axis = -1;  ///< the axis of CUDNN_POINTWISE_GEN_INDEX and its users; -1: none
  };
  void pointwise(const function& f, std::initializer_list<tensor_id> in, tensor_id to);
  /// Adds a product of matrices; their rows and columns are the last two axes.
  void product(tensor_id a, tensor_id b, tensor_id to);
  void reduce(cudnnReduceTensorOp_t how, tensor_id x, tensor_id to);
  void reshape(tensor_id x, tensor_id to);

  /// Returns bytes that describe all tensors and operations. They are part of the key of a stored plan.
  const std::string& description() const noexcept { return description_; }
  /// Makes cuDNN's descriptor of the graph.
  result<descriptor> make_descriptor(cudnnHandle_t on) const;

  const std::vector<tensor_id>& arguments() const noexcept { return arguments_; }
  const std::vector<std::uint32_t>& constants() const noexcept { return constants_; }  ///< bits of the constants
  const std::vector<tensor_id>& constant_names() const noexcept { return constant_names_; }

 private:
  enum class place { argument, intermediate, constant };
  class graph_descriptor;
  tensor_id add(dtype type, const tensor_shape& s, place where);
  template <class... T>
  void describe(const T&... all) {
    (description_.append(reinterpret_cast<const char*>(&all), sizeof all), ...);
  }

  std::vector<descriptor> made_;
  std::vector<cudnnBackendDescriptor_t> tensors_, operations_;
  std::vector<tensor_id> arguments_, constant_names_;
  std::vector<std::uint32_t> constants_;
  std::size_t rank_ = 0;  // largest rank of the arguments
  std::string description_;
  std::optional<error> failed_;
};

/// Returns cuDNN's constant for a type; nullopt if cuDNN does not have the type.
std::optional<cudnnDataType_t> type_of(dtype t) noexcept;

}  // namespace troupe::dnn::cudnn
