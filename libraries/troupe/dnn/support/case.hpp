// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>
#include <vector>

/// The cases of the table in docs/dnn.md, which says how each engine computes each operation.
namespace troupe::dnn::support {

using extents = std::vector<std::int64_t>;

/// Tensors in memory, most of them of one type. Physical pages are used only for memory that is written.
class tensors {
 public:
  explicit tensors(dtype type) : type_(type) {}

  /// Returns a tensor of this type.
  value given(const extents& e) { return value(operand<access_mode::read>(e, type_)); }
  /// Returns an image of this type, channels last in memory.
  value channels_last(const extents& e) { return value(operand<access_mode::read>(e, type_, true)); }
  /// Returns a tensor of f32, or of f64 if this type is f64.
  value statistics(const extents& e) { return value(operand<access_mode::read>(e, statistics_)); }
  /// Returns a tensor of the given type.
  value of(dtype type, const extents& e) { return value(operand<access_mode::read>(e, type)); }
  /// Returns a tensor of i32 with these elements.
  value integers(const extents& e, const std::vector<std::int32_t>& numbers);
  /// Writes a result to memory: of this type if `stored` and the result is floating, otherwise of the result's type.
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

/// The results of an operation: `stored` in the type of the case, `others` in their own types.
struct results {
  std::vector<value> stored, others = {};
  bool channels_last = false;  ///< true if `stored` have their channels last
};

/// An operation of the table, and a function that makes a graph with it.
struct support_case {
  std::string name;     ///< "convolution"
  std::string variant;  ///< "2-D"; "" if there is only one
  op what;              ///< the operation of the node to look for
  std::function<results(tensors&)> make;
};

std::vector<support_case> cases_of_elements();
std::vector<support_case> cases_of_images();
std::vector<support_case> cases_of_sets();
std::vector<support_case> cases_of_sequences();

}  // namespace troupe::dnn::support
