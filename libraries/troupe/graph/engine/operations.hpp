// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/internal/recipe.hpp>
#include <troupe/worker/engine.hpp>
#include <vector>

namespace troupe::graph {

/// The operations behind the nodes of a recipe, in its order; those that are no requests have none.
using operation_list = std::vector<troupe_found_operation>;

/// Of a recipe that nobody has looked at. Loads the libraries if need be. `on_gpu`: only what can be recorded there.
/// The error names the node.
result<operation_list> find_operations(const recipe_view& recipe, const troupe_engine_neighbours& among, bool on_gpu);

/// Runs the operation of a node. `c` is the call of the launch; what fails, fails with the node's name. Its answer goes
/// to `reply`, where nobody reads it.
result<void> run_node(const recipe_view& recipe, const recipe_node& node, const troupe_found_operation& what, call& c,
                      void* reply, const troupe_engine_recording* recording = nullptr);

/// The same error, of this node.
error of_node(const recipe_view& recipe, const recipe_node& node, const error& why);

error damaged();

}  // namespace troupe::graph
