// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <troupe/graph/internal/stretch_map.hpp>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/graph/recorded.hpp>

namespace troupe::graph {

/// An access of a node to memory. `reader` is the first node within that reads the earlier content, `writer` the first
/// that writes; null if none does.
struct node_access {
  memory_range where;
  access_mode mode;
  const tree_node *reader, *writer;
};

using node_names = std::map<const tree_node*, std::string>;
/// Returns the names of all nodes, those in bodies and child graphs included.
node_names names_of(const tree_body& all);

/// The effect of a sequence of accesses on each byte: the byte is only read, is replaced before it is read, is both
/// read and written, or may be replaced while its earlier content is never read.
class access_summary {
 public:
  /// Adds the accesses of one node, which are unordered.
  void add(const std::vector<node_access>& of_one);
  /// Adds the nodes of a body, one after the other.
  void add(const tree_body& all);
  /// Returns the accesses, with adjacent ones of the same block and mode merged.
  std::vector<snapshot::use> uses(const node_names& names = {}) const;
  /// Returns the accesses, with the node that each belongs to.
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

/// Returns the accesses of one node, nodes inside it included. Memory that a body may leave unchanged does not count as
/// replaced.
std::vector<node_access> accesses_of(const tree_node& n);

/// Returns, for each node of a body, the earlier nodes that it must wait for: the last writer of memory that it
/// touches, and the readers since of memory that it writes.
std::vector<std::vector<std::uint32_t>> dependencies(const tree_body& all);

}  // namespace troupe::graph
