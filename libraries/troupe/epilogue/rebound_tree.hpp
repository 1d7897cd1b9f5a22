// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// Returns the encoding of an epilogue of these parts, as `tree` reads it.
std::vector<std::byte> encode_tree(std::span<const node> nodes, std::span<const double> numbers,
                                   std::span<const tree_memory> memory);

/// A copy of an epilogue whose operands lie elsewhere.
class moved_tree {
 public:
  /// `memory` has an entry for each of the tree's.
  moved_tree(const tree& from, std::span<const tree_memory> memory)
      : encoded_(encode_tree(from.nodes(), from.numbers(), memory)), tree_(encoded_.data(), encoded_.size()) {}
  moved_tree(moved_tree&&) noexcept = default;
  const tree& get() const noexcept { return tree_; }

 private:
  std::vector<std::byte> encoded_;
  tree tree_;
};

}  // namespace troupe::epilogue
