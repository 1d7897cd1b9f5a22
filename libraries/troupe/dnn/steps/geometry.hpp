// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/graph/lines_along.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// Shapes as kernels need them, with axes split; and operations of elementwise kernels whose values depend on where an
/// element is, or are read elsewhere.
namespace troupe::dnn {

/// Returns the shape with axis 1 split into two: the group, and the channel in the group. A tensor has an element for
/// each channel, for each group or for all channels.
tensor_shape grouped(const tensor_shape& s, std::int64_t channels, std::int64_t groups) noexcept;

/// Returns the lines along an axis.
inline lines_along lines_of(const tensor_shape& s, std::int64_t axis) noexcept {
  return {std::span(s.extents.data(), s.rank), static_cast<std::size_t>(axis)};
}

/// Returns the elements of a tensor as a node that only moves elements, but a concatenation, returns them, with the
/// shape `result`. Returns nullopt if a reshaped tensor has to be copied.
std::optional<location> view_of(const encoded_node& n, const location& x, const tensor_shape& result) noexcept;

/// Returns a location without memory for the elements of a random or iota node: offsets in it are their positions in
/// the sequence of numbers, or their indexes along the axis.
location positions_of(const encoded_node& n, const tensor_shape& of) noexcept;

/// Sets the order in which a kernel iterates over elements: that of the first memory of the graph that it writes; if it
/// writes none, that of the last buffer that it writes.
void set_iteration_space(elementwise_kernel& k);

/// Adds the operations of a random, iota or gather node to a kernel, and returns the last one. `inputs` are the
/// locations of the node's inputs.
std::uint16_t add_values_by_position(elementwise_kernel& to, const encoded_node& n, std::span<const location> inputs);

}  // namespace troupe::dnn
