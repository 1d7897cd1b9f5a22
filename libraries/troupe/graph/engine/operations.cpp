// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/damaged.hpp>
#include <troupe/graph/engine/operations.hpp>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/worker/neighbour.hpp>

namespace troupe::graph {
namespace {

result<void> check_operation(const recipe_node& node, const troupe_engine_operation& op, bool on_gpu) {
  const auto refusal = [](const std::string& text) { return error(reaction::unsupported, "graph", text); };
  if (op.payload_bytes != node.payload_bytes)
    return refusal("the engine was built with another layout of this request; rebuild it");
  if (op.lane != troupe_lane_library && op.lane != troupe_lane_anywhere)
    return refusal("it runs on a lane of its own and cannot be part of a graph; send it before or after the graph");
  if (on_gpu && op.recordable == 0)
    return refusal("its engine cannot record what it enqueues; send it before or after the graph");
  return {};
}

}  // namespace

error damaged() { return troupe::damaged("graph", "graph.launch: the recipe"); }

error of_node(const recipe_view& recipe, const recipe_node& node, const error& why) {
  error::details d = why.all();
  d.text = std::string(recipe.name(node)) + ": " + d.text;
  return error(std::move(d));
}

result<operation_list> find_operations(const recipe_view& recipe, const troupe_engine_neighbours& among, bool on_gpu) {
  if (!recipe.sound()) return damaged();
  operation_list out(recipe.head().node_count);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const recipe_node& node = recipe.nodes()[i];
    if (node.kind != node_kind::request) continue;
    const auto found = find_operation(among, node.library, node.opcode);
    if (!found) return of_node(recipe, node, found.error());
    out[i] = *found;
    if (auto fine = check_operation(node, *out[i].operation, on_gpu); !fine) return of_node(recipe, node, fine.error());
  }
  return out;
}

result<void> run_node(const recipe_view& recipe, const recipe_node& node, const troupe_found_operation& what, call& c,
                      void* reply, const troupe_engine_recording* recording) {
  const auto done = run_operation(what, recipe.payload(node), reply, recording, c);
  return done ? done : of_node(recipe, node, done.error());
}

}  // namespace troupe::graph
