// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine of graph, which runs the requests one after the other, with the engines of their libraries.
#include <algorithm>
#include <cstring>
#include <troupe/base/try.hpp>
#include <troupe/graph/engine/known_graphs.hpp>
#include <troupe/graph/engine/operations.hpp>
#include <troupe/graph/internal/tree.hpp>

namespace troupe::graph {
namespace {

class host_graphs {
 public:
  static result<std::unique_ptr<host_graphs>> make(const engine_context& context) {
    if (context.neighbours == nullptr)
      return error(reaction::unsupported, "graph",
                   "graphs run requests of other engines, but this worker has no other engines");
    return std::unique_ptr<host_graphs>(new host_graphs(*context.neighbours));
  }
  const char* version() const { return "host"; }

  result<void> run(const launch& r, call& c) {
    const recipe_view recipe(r.graph.recipe());
    const auto what = TROUPE_TRY(operations_of(r, recipe));
    return run(recipe, *what, 0, recipe.head().node_count, c);
  }
  result<void> run(const unload& r, call&) {
    known_.forget(reinterpret_cast<std::uintptr_t>(r.root.data()));
    return {};
  }

  // Returns false, so that a launch runs on a helper thread and does not delay requests of other lanes, if it may take
  // long.
  bool ready(const launch& r) {
    constexpr std::uint32_t few = 16;
    const recipe_view recipe(r.graph.recipe());
    if (recipe.head().node_count > few || !known_.is_made(r.graph.root(), recipe, among_.openings(among_.set)))
      return false;
    const auto nodes = recipe.nodes();
    return std::none_of(nodes.begin(), nodes.end(), [](const auto& n) { return n.kind == node_kind::while_; });
  }

 private:
  explicit host_graphs(const troupe_engine_neighbours& among) : among_(among) {}

  result<std::shared_ptr<const operation_list>> operations_of(const launch& r, const recipe_view& recipe) {
    const auto known = known_.of(r.graph.root());
    const std::scoped_lock guard(known->lock);
    const std::uint64_t openings = among_.openings(among_.set);
    if (known->is(recipe, openings)) [[likely]]
      return known->made;
    auto found = TROUPE_TRY(find_operations(recipe, among_, false));
    known->made = std::make_shared<const operation_list>(std::move(found));
    known->version = recipe.head().version;
    known->openings = openings;
    return known->made;
  }

  static bool is_set(const recipe_node& n) noexcept {
    return *reinterpret_cast<const volatile std::uint32_t*>(static_cast<std::uintptr_t>(n.flag)) != 0;
  }

  static void note_position(const call& c, std::uint32_t node) noexcept {
    const launch_position here{c.ticket, node};
    std::memcpy(c.reply, &here, sizeof here);
  }

  // Runs nodes i to end - 1 of the list, and the nodes inside them.
  static result<void> run(const recipe_view& recipe, const operation_list& what, std::uint32_t i, std::uint32_t end,
                          call& c) {
    alignas(64) std::byte reply[max_reply_bytes];
    while (i < end) {
      const recipe_node& n = recipe.nodes()[i];
      result<void> done;
      switch (n.kind) {
        case node_kind::request:
          note_position(c, i);
          done = run_node(recipe, n, what[i], c, reply);
          break;
        case node_kind::child:
          done = run(recipe, what, i + 1, n.end, c);
          break;
        case node_kind::if_:
          done = is_set(n) ? run(recipe, what, i + 1, n.otherwise, c) : run(recipe, what, n.otherwise, n.end, c);
          break;
        case node_kind::while_:
          while (done && is_set(n)) done = run(recipe, what, i + 1, n.otherwise, c);
          break;
        default:
          return damaged();
      }
      if (!done) [[unlikely]]
        return done;
      i = n.end;
    }
    return {};
  }

  const troupe_engine_neighbours among_;
  known_graphs<std::shared_ptr<const operation_list>> known_;
};

}  // namespace
}  // namespace troupe::graph

using namespace troupe::graph;
TROUPE_ENGINE(host_graphs, "graph", "host", all_requests)
