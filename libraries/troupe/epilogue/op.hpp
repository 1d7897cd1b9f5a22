// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <troupe/base/dtype.hpp>

/// Operations on the result of a product before it is stored.
namespace troupe::epilogue {

/// The operation of a node of an epilogue. The values are sent between processes and stored with plans: add new ones at
/// the end.
enum class op : std::uint8_t {
  none = 0,
  // Reads of the product: all of it, or the left or right half of its columns.
  accumulator,
  left,
  right,
  // Operands: a number by value; the first element of memory; a row, a column or a matrix in memory.
  number,
  load_number,
  load_row,
  load_column,
  load,
  // Operations with one argument.
  negate,
  absolute,
  sign,
  exponential,
  relu,
  gelu,
  gelu_tanh,
  silu,
  tanh,
  sigmoid,
  softplus,
  hard_swish,
  d_relu,
  d_gelu,
  d_gelu_tanh,
  d_silu,
  d_tanh,
  d_sigmoid,
  d_softplus,
  d_hard_swish,
  // Operations with two arguments.
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  leaky_relu,
  d_leaky_relu,
  equal,
  less,
  less_equal,
  // Operations with three arguments.
  select,
  // Rounds one argument to a type, and saturates.
  convert,
  // Operations that write their argument, or a reduction of it, to memory, and return the argument.
  store,
  reduce,
  // Operations with one argument.
  square_root,
  logarithm,
  sine,
  cosine,
  tangent,
  error_function,
  floor,
  ceiling,
  nearest_whole,
  // Operations with two arguments.
  power,
  modulo,
  arctangent,
  elu,
  d_elu,
  logical_and,
  logical_or,
};

/// The function with which a `reduce` combines values.
enum class reduction : std::uint8_t { sum, maximum, absolute_maximum };
/// The values that a `reduce` combines: those of each row, those of each column, or all.
enum class reduction_scope : std::uint8_t { row, column, all };

/// The name and number of arguments of an operation.
struct op_info {
  std::string_view name;
  std::uint8_t arguments;
};

inline constexpr op_info op_table[] = {
    {"none", 0},         {"acc", 0},      {"left", 0},       {"right", 0},      {"number", 0},       {"number", 0},
    {"row", 0},          {"column", 0},   {"load", 0},       {"negation", 1},   {"abs", 1},          {"sign", 1},
    {"exp", 1},          {"relu", 1},     {"gelu", 1},       {"gelu_tanh", 1},  {"silu", 1},         {"tanh", 1},
    {"sigmoid", 1},      {"softplus", 1}, {"hard_swish", 1}, {"d_relu", 1},     {"d_gelu", 1},       {"d_gelu_tanh", 1},
    {"d_silu", 1},       {"d_tanh", 1},   {"d_sigmoid", 1},  {"d_softplus", 1}, {"d_hard_swish", 1}, {"sum", 2},
    {"difference", 2},   {"product", 2},  {"quotient", 2},   {"min", 2},        {"max", 2},          {"leaky_relu", 2},
    {"d_leaky_relu", 2}, {"==", 2},       {"<", 2},          {"<=", 2},         {"select", 3},       {"convert", 1},
    {"store", 1},        {"reduce", 1},   {"sqrt", 1},       {"log", 1},        {"sin", 1},          {"cos", 1},
    {"tan", 1},          {"erf", 1},      {"floor", 1},      {"ceil", 1},       {"nearest", 1},      {"pow", 2},
    {"fmod", 2},         {"atan2", 2},    {"elu", 2},        {"d_elu", 2},      {"logical_and", 2},  {"logical_or", 2},
};

/// Returns true if `o` is an operation. A value from another process may be any number.
constexpr bool is_known(op o) noexcept { return o != op::none && o <= op::logical_or; }
constexpr const op_info& info(op o) noexcept { return op_table[is_known(o) ? static_cast<std::size_t>(o) : 0]; }
constexpr std::string_view to_string(op o) noexcept { return info(o).name; }

/// Returns true if the operation only computes a function of its arguments' values.
constexpr bool is_function(op o) noexcept {
  return (o >= op::negate && o <= op::select) || (o > op::reduce && is_known(o));
}
/// Returns true if the operation reads or writes memory.
constexpr bool has_memory(op o) noexcept {
  return (o >= op::load_number && o <= op::load) || o == op::store || o == op::reduce;
}
/// Returns true if the operation is defined for complex numbers.
constexpr bool is_linear(op o) noexcept {
  return o <= op::negate || (o >= op::add && o <= op::divide) || o == op::convert || o == op::store;
}

/// Returns true if the operation returns its argument.
constexpr bool passes_on(op o) noexcept { return o == op::store || o == op::reduce; }

/// Limits of an epilogue: operations, different numbers by value, and operands in memory.
inline constexpr std::size_t most_nodes = 64, most_numbers = 32, most_memory = 16;

/// One operation of an epilogue. Its arguments are earlier nodes.
struct node {
  op what = op::none;
  dtype type{};                                 ///< for `convert`
  reduction combine = reduction::sum;           ///< for `reduce`
  reduction_scope over = reduction_scope::row;  ///< for `reduce`
  std::uint8_t operand = 0;                     ///< index among the numbers, or among the operands in memory
  std::uint8_t arguments[3] = {0, 0, 0};

  friend bool operator==(const node&, const node&) = default;
};
static_assert(sizeof(node) == 8 && std::has_unique_object_representations_v<node>);

/// Returns true if the nodes use the left or right half of the product: the result then has half as many columns.
constexpr bool is_paired(std::span<const node> nodes) noexcept {
  for (const node& n : nodes)
    if (n.what == op::left || n.what == op::right) return true;
  return false;
}

}  // namespace troupe::epilogue
