// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/graph/internal/recipe.hpp>

namespace troupe::graph {

// docs/design.md explains why workers check recipes: "What a worker reads is checked once more".
bool recipe_view::sound() const noexcept {
  const std::uint64_t all = head_->bytes;
  const auto lies_inside = [all](std::uint64_t at, std::uint64_t bytes) { return at <= all && bytes <= all - at; };
  const std::uint64_t count = head_->node_count;
  if (!lies_inside(sizeof(recipe_head), count * sizeof(recipe_node)) ||
      !lies_inside(head_->dependencies_at, std::uint64_t{head_->dependency_count} * sizeof(std::uint32_t)) ||
      head_->dependencies_at % alignof(std::uint32_t) != 0 || !lies_inside(head_->name_at, head_->name_bytes))
    return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const recipe_node& n = nodes()[i];
    if (!lies_inside(n.payload_at, n.payload_bytes) || !lies_inside(n.name_at, n.name_bytes) || n.end > count ||
        n.end <= i || n.otherwise <= i || n.otherwise > n.end ||
        std::uint64_t{n.first_dependency} + n.dependency_count > head_->dependency_count)
      return false;
    for (const std::uint32_t d : dependencies(n))
      if (d >= i) return false;
  }
  return true;
}

}  // namespace troupe::graph
