// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <troupe/dnn/encoded_graph.hpp>
#include <troupe/dnn/value.hpp>
#include <vector>

/// The making of values, for the functions of this library.
namespace troupe::dnn::detail {

/// The reason why a value is refused: "has a convolution whose filters is 4 x 5", and its parts for ready requests.
struct refusal {
  std::string what, expected;
  std::string input = {}, is = {};
};

/// A node, or a given tensor or number.
struct producer {
  op what = op::none;  ///< none: a given tensor or number
  node_attributes attributes = {};
  std::vector<value> inputs = {};
  struct output {
    dtype type;
    tensor_shape shape;  ///< without strides
  };
  std::vector<output> outputs = {};
  std::optional<in_any> memory = {};
  double number = 0;
  std::optional<refusal> refused = {};
  std::size_t depth = 0;  ///< length of the longest path from a given tensor or number
};

/// Makes a node from its inputs, attributes and outputs, unless something is refused.
class maker {
 public:
  maker(op what, std::string_view name, std::initializer_list<value> inputs);
  maker(op what, std::string_view name, std::vector<value> inputs);

  bool fine() const noexcept { return !made_.refused; }
  /// Refuses the node: "has a convolution whose filters is 8 x 4 x 3 x 3".
  void refuse(std::string_view input, std::string_view is, std::string expected);
  /// Refuses the node for an input that has wrong extents.
  void refuse_extents(std::string_view input, const value& v, std::string expected) {
    refuse(input, text_of(v), std::move(expected));
  }
  /// Requires an input to have from `least` to `most` axes. Returns fine().
  bool has_rank(std::string_view input, const value& v, std::size_t least, std::size_t most);
  /// Requires an input to be i32 in memory, which engines read without conversion. Returns fine().
  bool is_whole(std::string_view input, const value& v);

  template <class F>
  void with(const F& numbers) {
    made_.attributes = node_attributes::of(numbers);
  }
  void add_output(dtype type, std::span<const std::int64_t> extents);
  /// Adds an output whose elements are sums of `summands` products.
  void add_sum_output(dtype type, std::span<const std::int64_t> extents, extent summands);
  value done() { return value(std::make_shared<const producer>(std::move(made_))); }
  /// Returns all outputs of a node with several. Outputs that the node does not have share its refusal.
  std::vector<value> all(std::size_t count);

  static std::string text_of(const value& v);
  static std::string text_of(std::span<const std::int64_t> extents);

 private:
  std::string name_;
  producer made_;
};

/// Returns a refused value in place of an output that is not computed.
value not_computed(op what, std::string_view name, std::string_view output, std::string expected);

/// Returns "1 axis" or "3 axes", for refusals.
std::string axes_text(std::size_t count);
/// Returns true for the types of elements: one real number that a double represents exactly.
bool is_element(dtype t) noexcept;
inline constexpr std::string_view elements = "f32, f64, f16, bf16, an 8-bit float, or an integer of at most 32 bits";
/// Returns f64 if one of them is f64, otherwise f32.
dtype floating_type(std::initializer_list<value> of) noexcept;
/// Returns the same, or i32 if both hold i8.
dtype type_of_sums(const value& a, const value& b) noexcept;
/// Returns true if elements of these types can be multiplied with each other: of one type, or of two 8-bit floats.
bool are_factors(dtype a, dtype b) noexcept;
/// Returns true if a value of these extents can be combined with one of those, axis by axis: equal, or 1.
bool broadcasts(std::span<const std::int64_t> one, std::span<const std::int64_t> to) noexcept;
/// Returns the set of axes as bits; -1 if one of them is not an axis of the value, or occurs twice.
std::int64_t bits_of(std::span<const std::size_t> axes, std::size_t rank) noexcept;

}  // namespace troupe::dnn::detail
