// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <vector>

/// The cases of the table in docs/dnn.md, which says how each engine computes each operation.
namespace troupe::dnn::support {

using extents = std::vector<std::int64_t>;

/// Tensors, most of them of one type, at addresses without memory: graphs are planned, but not run.
class tensors {
 public:
  explicit tensors(dtype type) noexcept : type_(type) {}

  /// Returns a tensor of the case's type.
  value given(const extents& e) { return value(operand<access_mode::read>(e, type_)); }
  /// Returns an image of the case's type, with the channels last in memory.
  value channels_last(const extents& e) { return value(operand<access_mode::read>(e, type_, true)); }
  /// Returns a tensor of f32, or of f64 if the case's type is f64.
  value statistics(const extents& e) { return of(type_ == dtype::f64 ? dtype::f64 : dtype::f32, e); }
  /// Returns a tensor of the given type.
  value of(dtype type, const extents& e) { return value(operand<access_mode::read>(e, type)); }
  /// Writes a result: in the case's type if `stored` and the result is floating, otherwise in the result's type.
  written to_memory(const value& v, bool stored, bool channels_last = false) {
    const bool is_floating = v.type() == dtype::f32 || v.type() == dtype::f64;
    const extents e(v.extents().begin(), v.extents().end());
    return {v, operand<access_mode::write>(e, stored && is_floating ? type_ : v.type(), channels_last)};
  }

 private:
  template <access_mode M>
  any_operand<M> operand(const extents& e, dtype type, bool channels_last = false) {
    tensor_shape s{.rank = e.size()};
    std::copy(e.begin(), e.end(), s.extents.begin());
    s.strides = channels_last ? with_dense_strides(s, true).strides : dense_strides(s);
    next_ += std::uint64_t{1} << 36;  // more bytes than any tensor has
    return {memory_range{{}, next_, static_cast<std::uint64_t>(elements_of(s)) * bytes_of(type)}, s, type};
  }

  dtype type_;
  std::uint64_t next_ = 0;
};

/// The results of an operation: those that are `stored` in the type of the case, and `others` in their own types.
struct results {
  std::vector<value> stored, others = {};
  bool channels_last = false;  ///< true if the images in `stored` have their channels last in memory
};

/// An operation of the table, and a function that makes a graph with it.
struct support_case {
  std::string name;     ///< "convolution"
  std::string variant;  ///< such as "2-D"; "" if the operation has only one variant
  op what;              ///< the operation of the node to look for
  std::function<results(tensors&)> make;
};

std::vector<support_case> cases_of_elements();
std::vector<support_case> cases_of_images();
std::vector<support_case> cases_of_sets();
std::vector<support_case> cases_of_sequences();

}  // namespace troupe::dnn::support
