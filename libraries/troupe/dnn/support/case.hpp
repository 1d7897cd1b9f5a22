// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <troupe/dnn/attributes.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/op.hpp>
#include <vector>

/// Which engine computes what, and how: the table of docs/dnn.md, made from what plans the graphs.
namespace troupe::dnn::support {

using extents = std::vector<std::int64_t>;

/// Tensors in memory, mostly of one type. The memory takes no workspace until something is written to it.
class tensors {
 public:
  explicit tensors(dtype type) : type_(type) {}

  /// A tensor of this type.
  value given(const extents& e) { return value(operand<access_mode::read>(e, type_)); }
  /// The same, of images that have their channels last in memory.
  value channels_last(const extents& e) { return value(operand<access_mode::read>(e, type_, true)); }
  /// One of f32, or of f64 for numbers of f64.
  value statistics(const extents& e) { return value(operand<access_mode::read>(e, statistics_)); }
  value of(dtype type, const extents& e) { return value(operand<access_mode::read>(e, type)); }
  /// A tensor of i32, with what they are.
  value whole(const extents& e, const std::vector<std::int32_t>& numbers);
  /// Memory of this type for a result; of its own, if that is no floating type or if it is not `stored`.
  written to_memory(const value& v, bool stored, bool channels_last = false);

 private:
  struct release {
    std::size_t bytes;
    void operator()(void* p) const noexcept;
  };
  template <access_mode M>
  any_operand<M> operand(const extents& e, dtype type, bool channels_last = false);

  const dtype type_, statistics_ = type_ == dtype::f64 ? dtype::f64 : dtype::f32;
  std::deque<std::unique_ptr<void, release>> memory_;
};

/// What an operation gives: results that are stored in the type of the case, and others in their own.
struct results {
  std::vector<value> stored, others = {};
  bool channels_last = false;  ///< of what is stored
};

/// An operation, as a graph that has it with tensors of a type.
struct support_case {
  std::string name;     ///< "convolution"
  std::string variant;  ///< "2-D"; "" if there is one only
  op what;              ///< the node that counts
  std::function<results(tensors&)> make;
};

std::vector<support_case> cases_of_elements();
std::vector<support_case> cases_of_images();
std::vector<support_case> cases_of_sets();
std::vector<support_case> cases_of_sequences();

}  // namespace troupe::dnn::support
