// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/graph/value.hpp>
#include <utility>
#include <vector>

/// The origin of a value: a node that computes it, memory, or a number.
namespace troupe::dnn::detail {

/// The reason why a value is refused: `what` is wrong ("has a convolution whose filters is 4 x 5"), and what was
/// expected. `input` names the input, and `is` says what is wrong with it ("filters", "is 4 x 5"): ready requests
/// report these for their own fields.
struct refusal {
  std::string what, expected;
  std::string input = {}, is = {};
};

/// The inputs of a node. Their nodes are destroyed one after another, however long the chain of nodes is.
class input_list {
 public:
  input_list() noexcept = default;
  input_list(std::vector<value> all) noexcept : all_(std::move(all)) {}
  input_list(input_list&& o) noexcept : all_(std::exchange(o.all_, {})) {}
  input_list& operator=(input_list&& o) noexcept {
    std::swap(all_, o.all_);
    return *this;
  }
  ~input_list();

  std::size_t size() const noexcept { return all_.size(); }
  const value& operator[](std::size_t i) const noexcept { return all_[i]; }
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  std::vector<value> all_;
};

/// A node, or a tensor in memory, or a number.
struct producer {
  op what = op::none;  ///< none for a tensor in memory and for a number
  node_attributes attributes = {};
  input_list inputs = {};
  struct output {
    dtype type;
    tensor_shape shape;  ///< without strides
  };
  std::vector<output> outputs = {};
  std::optional<in_any> memory = {};
  double number = 0;
  std::optional<refusal> refused = {};
};

}  // namespace troupe::dnn::detail
