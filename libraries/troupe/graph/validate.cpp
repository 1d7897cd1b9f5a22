// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/graph/internal/recipe.hpp>
#include <troupe/graph/requests.hpp>

namespace troupe::graph {

void launch::check(checker& c) const {
  if (const auto why = graph.wrong()) return c.fail(*why);
  if (const auto why = graph.stale_input()) c.fail(*why, true);
  c.may_overlap_freely();
}

// Checks what the last handle of a graph sends.
void unload::check(checker& c) const { c.elements(root, sizeof(graph_root)); }

}  // namespace troupe::graph
