// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue {

/// Returns the encoding of an epilogue, as `tree` reads it.
std::vector<std::byte> encode_tree(std::span<const node> nodes, std::span<const double> numbers,
                                   std::span<const memory_operand> memory);

/// A copy of an epilogue with other operands in memory and, if they are passed, other numbers.
class rebound_tree {
 public:
  /// `memory` has the new operand for each operand in memory of `from`.
  rebound_tree(const tree& from, std::span<const memory_operand> memory) : rebound_tree(from, memory, from.numbers()) {}
  rebound_tree(const tree& from, std::span<const memory_operand> memory, std::span<const double> numbers)
      : encoded_(encode_tree(from.nodes(), numbers, memory)), tree_(encoded_.data(), encoded_.size()) {}
  rebound_tree(rebound_tree&&) noexcept = default;
  const tree& get() const noexcept { return tree_; }

 private:
  std::vector<std::byte> encoded_;
  tree tree_;
};

}  // namespace troupe::epilogue
