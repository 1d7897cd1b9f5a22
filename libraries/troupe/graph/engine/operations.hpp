// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/internal/recipe.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::graph {

/// The operations of a recipe's nodes, in order. Nodes that are not requests have empty entries.
using operation_list = std::vector<troupe_found_operation>;

/// Checks a recipe and finds its operations, loading libraries if necessary. If `on_gpu`, every operation must be
/// recordable. The error names the node.
result<operation_list> find_operations(const recipe_view& recipe, const troupe_engine_neighbours& among, bool on_gpu);

/// Runs the operation of a node. `c` is the call of the launch. The reply is written to `reply` and ignored. An error
/// names the node.
result<void> run_node(const recipe_view& recipe, const recipe_node& node, const troupe_found_operation& what, call& c,
                      void* reply, const troupe_engine_recording* recording = nullptr);

/// Returns the error with the node's name at the beginning of its text.
error of_node(const recipe_view& recipe, const recipe_node& node, const error& why);

error damaged();

}  // namespace troupe::graph
