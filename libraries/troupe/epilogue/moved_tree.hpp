// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// A copy of an epilogue whose operands lie elsewhere.
class moved_tree {
 public:
  /// `memory` has an entry for each of the tree's.
  moved_tree(const tree& from, std::span<const tree_memory> memory);
  moved_tree(moved_tree&&) noexcept = default;
  const tree& get() const noexcept { return tree_; }

 private:
  std::vector<std::byte> encoded_;
  tree tree_;
};

}  // namespace troupe::epilogue
