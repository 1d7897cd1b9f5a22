// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// The memory that a graph reads, and its last reader: memory that is also written keeps its old values until then.
class read_set {
 public:
  explicit read_set(const encoded_graph& g);

  /// Returns true if the graph reads the memory, or a view of it.
  bool any(std::uint16_t memory) const noexcept { return after_[memory] != 0; }
  /// Returns true if a node after this one reads the memory, or a view of it.
  bool any_after(std::size_t node, std::uint16_t memory) const noexcept { return after_[memory] > node + 1; }
  /// Records that this tensor is read at that node, which may come after its own readers.
  void read_at(std::size_t node, std::uint16_t tensor) noexcept {
    if (memory_of_[tensor] == no_tensor) return;
    std::size_t& after = after_[memory_of_[tensor]];
    if (after < node + 1) after = node + 1;
  }
  /// Records that this tensor is read at the end.
  void read_at_end(std::uint16_t tensor) noexcept {
    if (memory_of_[tensor] != no_tensor) after_[memory_of_[tensor]] = SIZE_MAX;
  }

 private:
  std::vector<std::uint16_t> memory_of_;  // the memory that a tensor may be a view of
  std::vector<std::size_t> after_;        // one more than the last node that reads the memory; 0: none does
};

}  // namespace troupe::dnn
