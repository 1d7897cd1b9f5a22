// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/dnn/steps/def_use.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::cudnn {

/// What single elements of matched nodes are by definition, computed in double.
class definition {
 public:
  /// `number(input, index)` is an element of the claim's inputs.
  using reader = std::function<double(std::size_t input, const axis_values& at)>;
  definition(const encoded_graph& g, const def_use& l, const fusion_match& c, reader number)
      : g_(g), l_(l), claim_(c), number_(std::move(number)) {}

  double at(std::uint16_t tensor, const axis_values& at) const {
    double size = 0;
    return this->at(tensor, at, size);
  }
  /// Also says how large the numbers are that were added up, if their products were rounded to a half type before.
  double at(std::uint16_t tensor, const axis_values& at, double& size) const;
  /// About how many numbers go into an element.
  std::int64_t terms_of(std::uint16_t tensor) const;

 private:
  double element(const encoded_node& n, std::uint16_t output, const axis_values& at, double& size) const;
  double convolution(const encoded_node& n, const axis_values& at) const;
  double data_gradient(const encoded_node& n, const axis_values& at) const;
  double weight_gradient(const encoded_node& n, const axis_values& at) const;
  struct attended;
  double attention(const encoded_node& n, std::uint16_t output, const axis_values& at, double& size) const;
  std::int64_t terms_of_attention(const encoded_node& n, std::uint16_t output) const;
  const tensor_shape& shape(std::uint16_t t) const noexcept { return g_.tensors()[t].shape; }

  const encoded_graph& g_;
  const def_use& l_;
  const fusion_match& claim_;
  const reader number_;
};

}  // namespace troupe::dnn::cudnn
