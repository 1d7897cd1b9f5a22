// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <troupe/dnn/gradients/derivatives.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <utility>

namespace troupe::dnn::detail {

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// A node that is differentiated, and the gradients of its inputs. The function of its operation sets them.
class node_differentiation {
 public:
  explicit node_differentiation(const differentiated_node& p)
      : p_(p), node_(p.of.from()), gradients_(node_.inputs.size()) {}

  const producer& node() const noexcept { return node_; }
  template <class F>
  F attributes() const noexcept {
    return node_.attributes.as<F>();
  }
  const value& in(std::size_t i) const { return node_.inputs[i]; }
  value out(std::size_t i) const { return p_.of.sibling(static_cast<std::uint8_t>(i)); }
  bool is_needed(std::size_t i) const { return p_.is_needed[i]; }
  /// Returns the first output, converted to another type, if the loss uses that conversion.
  const std::optional<value>& rounded() const noexcept { return p_.rounded; }
  /// Returns the gradient of an output.
  const optional_gradient& gradient_of_output(std::size_t i) const { return p_.gradients[i]; }
  /// Returns the gradient of the first output.
  const value& gradient() const { return *p_.gradients[0]; }
  /// Returns the gradient of an output, broadcast to the output's extents.
  value dy(std::size_t i = 0) const { return spread_over(*p_.gradients[i], out(i)); }

  /// Sets the gradient of an input to the result of `gradient()`, if that gradient is needed.
  template <class F>
  void set(std::size_t i, F&& gradient) {
    if (is_needed(i)) gradients_[i] = gradient();
  }
  /// Returns true if only the first output has a gradient; otherwise refuses the gradients of all inputs and returns
  /// false.
  bool only_first_has_gradient();
  void refuse(std::string_view through);
  /// Makes a node, and returns its outputs, which have the extents of the values in `like`.
  std::vector<value> made(op what, std::vector<value> inputs, const node_attributes& numbers,
                          std::initializer_list<const value*> like) const;
  value made(op what, std::vector<value> inputs, const value& like) const {
    return made(what, std::move(inputs), node_.attributes, {&like})[0];
  }
  std::vector<optional_gradient> take() { return std::move(gradients_); }

 private:
  const differentiated_node& p_;
  const producer& node_;
  std::vector<optional_gradient> gradients_;
};

/// Converts a gradient to the type of the other factor of a product.
value as_factor(const value& gradient, const value& other);
/// Sums a gradient with extents `from` along the axes along which `to` has the extent 1 instead.
value summed(value gradient, std::span<const std::int64_t> from, std::span<const std::int64_t> to);

}  // namespace troupe::dnn::detail
