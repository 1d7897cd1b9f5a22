// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

/// The operations of a graph's nodes, see docs/dnn.md.
namespace troupe::dnn {

/// The operation of a node: op_list.inc has them all.
enum class op : std::uint8_t {
  none = 0,
#define OPERATION(NAME, ...) NAME,
#include <troupe/dnn/graph/op_list.inc>
};

/// The way in which engines compute an operation: together with other elements, not at all because its result is
/// another view of the same elements, or in a step of its own.
enum class op_kind : std::uint8_t { elementwise, view, step };

/// The name of an operation, its kind, and how many inputs and outputs its nodes may have.
struct op_info {
  std::string_view name;
  op_kind kind;
  std::uint8_t least_inputs, most_inputs, least_outputs, most_outputs;
};
inline constexpr op_info op_infos[] = {
    {"none", op_kind::view, 0, 0, 0, 0},
#define OPERATION(NAME, KIND, ATTRIBUTES, GRADIENT, OF_NOTHING, LEAST_IN, MOST_IN, LEAST_OUT, MOST_OUT) \
  {#NAME, op_kind::KIND, LEAST_IN, MOST_IN, LEAST_OUT, MOST_OUT},
#include <troupe/dnn/graph/op_list.inc>
};
inline constexpr std::size_t op_count = std::size(op_infos);  ///< with op::none

/// Returns true if the value, which may come from another process, is an operation.
constexpr bool is_known(op o) noexcept { return o != op::none && static_cast<std::size_t>(o) < op_count; }
/// Returns the operation's place in tables: 0 if it is none, or unknown.
constexpr std::size_t index_of(op o) noexcept { return is_known(o) ? static_cast<std::size_t>(o) : 0; }
constexpr const op_info& info(op o) noexcept { return op_infos[index_of(o)]; }
constexpr std::string_view to_string(op o) noexcept { return info(o).name; }

/// Returns true if engines compute the operation in steps of its own.
constexpr bool is_step(op o) noexcept { return info(o).kind == op_kind::step; }
/// Returns true if the result has the same elements as the inputs.
constexpr bool is_view(op o) noexcept { return info(o).kind == op_kind::view; }
constexpr bool is_elementwise(op o) noexcept { return info(o).kind == op_kind::elementwise; }

}  // namespace troupe::dnn
