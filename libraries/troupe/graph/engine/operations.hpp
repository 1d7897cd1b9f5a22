// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/internal/recipe.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::graph {

/// The operations of a recipe's nodes, in order; nodes that are not requests have none.
using operation_list = std::vector<troupe_found_operation>;

/// Finds the operations of a recipe that has not been checked yet, and loads libraries if necessary. With `on_gpu`
/// every operation must be recordable. The error names the node.
result<operation_list> find_operations(const recipe_view& recipe, const troupe_engine_neighbours& among, bool on_gpu);

/// Runs the operation of a node; `c` is the call of the launch. An error names the node. The reply is written to
/// `reply` and ignored.
result<void> run_node(const recipe_view& recipe, const recipe_node& node, const troupe_found_operation& what, call& c,
                      void* reply, const troupe_engine_recording* recording = nullptr);

/// Returns the error with the node's name in front.
error of_node(const recipe_view& recipe, const recipe_node& node, const error& why);

error damaged();

}  // namespace troupe::graph
