// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <initializer_list>
#include <ranges>
#include <span>
#include <troupe/dnn/graph/value.hpp>
#include <vector>

/// Operations that move elements and do not change them.
namespace troupe::dnn {

/// Returns the elements of x, in row-major order, with the extents `to`.
value reshape(const value& x, std::span<const std::int64_t> to);
inline value reshape(const value& x, std::initializer_list<extent> to) {
  std::vector<std::int64_t> extents;
  for (const extent e : to) extents.push_back(e.value());
  return reshape(x, std::span<const std::int64_t>(extents));
}
/// Does the same with extents from any other range of integers or extents.
template <std::ranges::input_range R>
  requires(std::convertible_to<std::ranges::range_reference_t<R>, extent> &&
           !std::convertible_to<R, std::span<const std::int64_t>>)
value reshape(const value& x, const R& to) {
  std::vector<std::int64_t> extents;
  for (const extent e : to) extents.push_back(e.value());
  return reshape(x, std::span<const std::int64_t>(extents));
}
/// Reshapes a vector with an element for each channel to 1 x channels x 1 ..., with `rank` axes, to combine it with
/// images.
value channels(const value& x, std::size_t rank = 4);
/// Permutes the axes: axis i of the result is axis `from[i]` of x.
value transpose(const value& x, std::span<const std::size_t> from);
inline value transpose(const value& x, std::initializer_list<std::size_t> from) {
  return transpose(x, std::span(from.begin(), from.size()));
}
/// Concatenates at most 8 tensors along the axis `along`.
value concatenate(std::span<const value> parts, std::size_t along);
inline value concatenate(std::initializer_list<value> parts, std::size_t along) {
  return concatenate(std::span(parts.begin(), parts.size()), along);
}
/// Returns `count` elements along an axis: those with the indexes `first`, `first` + `step`, `first` + 2 * `step` ...
value slice(const value& x, std::size_t axis, std::int64_t first, std::int64_t count, std::int64_t step = 1);
/// Broadcasts x to the extents `to`: axes of extent 1 repeat their element, and axes that x does not have precede its
/// own. The elements keep their type; they are repeated where they are used, and need no memory for that.
value expand(const value& x, std::span<const std::int64_t> to);
inline value expand(const value& x, std::initializer_list<std::int64_t> to) {
  return expand(x, std::span(to.begin(), to.size()));
}

}  // namespace troupe::dnn
