// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/internal/stretch_map.hpp>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/graph/recorded.hpp>

namespace troupe::graph {

/// How a sequence of accesses treats each byte, seen from outside: it only reads it, replaces it before reading it, or
/// both reads and writes it.
class access_summary {
 public:
  /// Adds the accesses of one node, which are unordered.
  void add(const std::vector<checked_access>& of_one, const std::string& node);
  /// Adds the nodes of a body, one after the other.
  void add(const tree_body& all, const std::string& prefix);
  /// Returns the accesses, with adjacent ones of the same block and mode merged.
  std::vector<snapshot::use> uses() const;

 private:
  struct touched {
    access_mode mode;
    block_ref owner;
    std::string node;
  };
  void add(const checked_access& one, const std::string& node);

  stretch_map<touched> memory_;
};

/// Returns what one node touches, nodes inside it included. Conditional writes never count as replacing memory.
std::vector<checked_access> accesses_of(const tree_node& n);

/// Returns, for each node of a body, the earlier nodes that it must wait for: the last writer of memory that it
/// touches, and the readers since of memory that it writes.
std::vector<std::vector<std::uint32_t>> dependencies(const tree_body& all);

}  // namespace troupe::graph
