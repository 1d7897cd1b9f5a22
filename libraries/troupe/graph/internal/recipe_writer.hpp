// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/internal/recipe.hpp>
#include <troupe/graph/internal/tree.hpp>

namespace troupe::graph {

/// Writes the recipe of a tree. The size is computed before memory is allocated.
class recipe_writer {
 public:
  recipe_writer(const tree_body& all, const std::string& name, std::uint64_t version, std::uint32_t branches);
  std::uint64_t bytes() const noexcept { return head_.bytes; }
  /// Writes the recipe to memory of that size, which the worker maps at `address`. Both addresses are aligned to 16
  /// bytes.
  void write(std::byte* to, std::uint64_t address) const;

 private:
  struct entry {
    recipe_node node;
    std::string name;
    const step* what;
  };
  void list(const tree_body& all, const std::string& prefix);

  const std::string name_;
  recipe_head head_{};
  std::vector<entry> entries_;
  std::vector<std::uint32_t> dependencies_;
};

}  // namespace troupe::graph
