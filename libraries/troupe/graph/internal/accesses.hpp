// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <troupe/graph/internal/stretch_map.hpp>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/graph/recorded.hpp>

namespace troupe::graph {

/// An access of a node to memory. `reader` is the first node inside it that reads the earlier content, and `writer` the
/// first that writes; each is null if there is no such node.
struct node_access {
  memory_range where;
  access_mode mode;
  const tree_node *reader, *writer;
};

using node_names = std::map<const tree_node*, std::string>;
/// Returns the names of all nodes, including those in bodies and child graphs.
node_names names_of(const tree_body& all);

/// What a sequence of accesses does to each byte: it is only read; or replaced before it is read; or both read and
/// written; or possibly replaced, without being read.
class access_summary {
 public:
  /// Adds the accesses of one node. Their order has no effect.
  void add(const std::vector<node_access>& of_one);
  /// Adds the nodes of a body, one after the other.
  void add(const tree_body& all);
  /// Returns the accesses; adjacent ones with the same block and mode are merged.
  std::vector<snapshot::use> uses(const node_names& names = {}) const;
  /// Returns the accesses, each with the first node that reads and the first node that writes.
  std::vector<node_access> accesses() const;

 private:
  struct touched {
    access_mode mode;
    block_ref owner;
    const tree_node *reader, *writer;
  };
  void add(const node_access& one);

  stretch_map<touched> memory_;
};

/// Returns the accesses of one node, including the nodes inside it. Memory that a body may leave unchanged does not
/// count as replaced.
std::vector<node_access> accesses_of(const tree_node& n);

/// Returns, for each node of a body, the earlier nodes for which it must wait: the last writer of memory that it
/// accesses, and the later readers of memory that it writes.
std::vector<std::vector<std::uint32_t>> dependencies(const tree_body& all);

}  // namespace troupe::graph
