// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <troupe/dnn/steps/def_use.hpp>
#include <troupe/dnn/steps/fusion_match.hpp>

namespace troupe::dnn::cudnn {

/// Computes single elements of a fusion match's tensors in double, by the definitions of the match's nodes.
class match_reference {
 public:
  /// `read_input(input, at)` returns element `at` of an input of the match.
  using element_reader = std::function<double(std::size_t input, const axis_values& at)>;
  match_reference(const encoded_graph& g, const def_use& uses, const fusion_match& match, element_reader read_input)
      : graph_(g), uses_(uses), match_(match), read_input_(std::move(read_input)) {}

  double at(std::uint16_t tensor, const axis_values& at) const {
    double magnitude = 0;
    return this->at(tensor, at, magnitude);
  }
  /// Returns an element of a tensor. If cuDNN rounds the summands of the element to a half type, sets `magnitude` to
  /// the sum of their absolute values.
  double at(std::uint16_t tensor, const axis_values& at, double& magnitude) const;
  /// Returns about how many multiplications an element of a tensor needs.
  std::int64_t summands_of(std::uint16_t tensor) const;

 private:
  double element(const encoded_node& n, std::uint16_t output, const axis_values& at, double& magnitude) const;
  double convolution(const encoded_node& n, const axis_values& at) const;
  struct attention_reference;
  double attention(const encoded_node& n, std::uint16_t output, const axis_values& at, double& magnitude) const;
  std::int64_t attention_summands(const encoded_node& n, std::uint16_t output) const;
  const tensor_shape& shape(std::uint16_t t) const noexcept { return graph_.tensors()[t].shape; }

  const encoded_graph& graph_;
  const def_use& uses_;
  const fusion_match& match_;
  const element_reader read_input_;
};

}  // namespace troupe::dnn::cudnn
