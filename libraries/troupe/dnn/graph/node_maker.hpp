// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <troupe/base/enumeration.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/windows/per_axis.hpp>
#include <vector>

/// Helpers for the functions of this library that make nodes and check the inputs.
namespace troupe::dnn::detail {

/// Makes a node from its inputs, attributes and outputs, or a refused value if a check fails.
class node_maker {
 public:
  node_maker(op what, std::string_view name, std::initializer_list<value> inputs);
  node_maker(op what, std::string_view name, std::vector<value> inputs);

  bool fine() const noexcept { return !made_.refused; }
  /// Refuses the node, with a text such as "has a convolution whose filters is 8 x 4 x 3 x 3". Only the first refusal
  /// is stored.
  void refuse(std::string_view input, std::string_view is, std::string expected);
  /// Refuses the node because an input has wrong extents.
  void refuse_extents(std::string_view input, const value& v, std::string expected) {
    refuse(input, text_of(v), std::move(expected));
  }
  /// Requires an argument to be an enumerator.
  template <described_enum E>
  void require_known(std::string_view argument, E value) {
    if (!is_known(value)) refuse(argument, cat("is ", static_cast<std::int64_t>(value)), one_of<E>());
  }
  /// Requires an input to have from `least` to `most` axes. Returns fine().
  bool has_rank(std::string_view input, const value& v, std::size_t least, std::size_t most);
  /// Requires an option to have numbers for the spatial axes, each at least `least`. Returns fine().
  bool has_numbers(std::string_view option, const windows::per_axis& given, std::size_t spatial, std::int64_t least);
  /// Requires an input to be i32 in memory, since engines read it without conversion. Returns fine().
  bool is_i32_in_memory(std::string_view input, const value& v);
  /// Requires an input to be i32 or i64 in memory. Returns fine().
  bool is_index_in_memory(std::string_view input, const value& v);

  template <class F>
  void with(const F& attributes) {
    made_.attributes = node_attributes::of(attributes);
  }
  void add_output(dtype type, std::span<const std::int64_t> extents);
  /// Adds an output whose elements are sums of `summands` products.
  void add_sum_output(dtype type, std::span<const std::int64_t> extents, extent summands);
  value done() { return value(std::make_shared<const producer>(std::move(made_))); }
  /// Returns the node's first `count` outputs. If the node is refused, all of them are refused.
  std::vector<value> all(std::size_t count);

  static std::string text_of(const value& v);
  static std::string text_of(std::span<const std::int64_t> extents);

 private:
  std::string name_;
  producer made_;
};

/// Returns a refused value, in place of an output that the operation does not compute.
value not_computed(op what, std::string_view name, std::string_view output, std::string expected);

/// Returns a text for refusals, such as "1 axis" or "3 axes".
std::string axes_text(std::size_t count);
/// Returns true if elements may have the type: they are real, and double represents its numbers exactly, or those of
/// them that are labels or indexes.
bool is_element(dtype t) noexcept;
inline constexpr std::string_view elements =
    "f32, f64, f16, bf16, an 8-bit float, i64, or an integer of at most 32 bits";
/// Returns f64 if one of the tensors is f64, otherwise f32. Numbers do not count.
dtype floating_type(std::initializer_list<value> of) noexcept;
/// Returns the type of sums of products of a and b: i32 if both are i8, otherwise f64 or f32.
dtype type_of_sums(const value& a, const value& b) noexcept;
/// Returns true if a product may have factors of these types: they are equal, or both are 8-bit floats.
bool are_factors(dtype a, dtype b) noexcept;
/// Returns true if a tensor with extents `one` can be broadcast to extents `to`: along each axis, its extent is equal
/// or 1.
bool broadcasts(std::span<const std::int64_t> one, std::span<const std::int64_t> to) noexcept;
/// Returns the axes as a bit set; -1 if an axis is not less than `rank`, or occurs twice.
std::int64_t bits_of(std::span<const std::size_t> axes, std::size_t rank) noexcept;

}  // namespace troupe::dnn::detail
