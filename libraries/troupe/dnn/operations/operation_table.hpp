// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/dnn/graph/op.hpp>
#include <troupe/dnn/graph/without_elements.hpp>

/// The functions of operations in the application: those that graph/op_list.inc names.
namespace troupe::dnn::detail {

class node_differentiation;

#define OPERATION(NAME, KIND, ATTRIBUTES, GRADIENT, OF_NOTHING, ...) \
  void GRADIENT(node_differentiation& d);                            \
  known_output OF_NOTHING(const producer& p, std::size_t output);
#include <troupe/dnn/graph/op_list.inc>

/// The functions of an operation.
struct operation {
  void (*differentiate)(node_differentiation& d);  ///< sets the gradients of the inputs
  known_output (*output_of_nothing)(const producer& p, std::size_t output);
};

/// The functions of each operation, at `index_of(op)`.
inline constexpr operation operations[op_count] = {
    {not_differentiable, zeros},
#define OPERATION(NAME, KIND, ATTRIBUTES, GRADIENT, OF_NOTHING, ...) {GRADIENT, OF_NOTHING},
#include <troupe/dnn/graph/op_list.inc>
};

}  // namespace troupe::dnn::detail
