// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// The memory that a graph reads, and for each memory the last node that reads it. Until that node has run, the memory
/// must keep its old content.
class read_set {
 public:
  explicit read_set(const encoded_graph& g);

  /// Returns true if the graph reads the memory, or a view of it.
  bool is_read(std::uint16_t memory) const noexcept { return after_[memory] != 0; }
  /// Returns true if a node after `node` reads the memory, or a view of it.
  bool is_read_after(std::size_t node, std::uint16_t memory) const noexcept { return after_[memory] > node + 1; }
  /// Returns the memory that the tensor is, or may be a view of; no_tensor if there is none.
  std::uint16_t memory_of(std::uint16_t tensor) const noexcept { return memory_of_[tensor]; }
  /// Records that a tensor is read when `node` runs. That may be later than the nodes that read it, if `node` stands
  /// for a match.
  void read_at(std::size_t node, std::uint16_t tensor) noexcept {
    if (memory_of_[tensor] == no_tensor) return;
    std::size_t& after = after_[memory_of_[tensor]];
    if (after < node + 1) after = node + 1;
  }
  /// Records that a tensor is read after all nodes have run.
  void read_at_end(std::uint16_t tensor) noexcept {
    if (memory_of_[tensor] != no_tensor) after_[memory_of_[tensor]] = SIZE_MAX;
  }

 private:
  std::vector<std::uint16_t> memory_of_;  // for each tensor: the memory that it may be a view of
  std::vector<std::size_t> after_;        // for each memory: 1 + the last node that reads it; 0 if none does
};

}  // namespace troupe::dnn
