// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/internal/stretch_map.hpp>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/graph/recorded.hpp>

namespace troupe::graph {

/// What a sequence of accesses does to each byte, seen from outside: only read; replaced before anybody reads it; or
/// both.
class access_summary {
 public:
  /// Accesses of one node are independent of each other.
  void add(const std::vector<checked_access>& of_one, const std::string& node);
  /// The nodes of a body, one after the other.
  void add(const tree_body& all, const std::string& prefix);
  /// Without gaps where there are none: neighbours of one block and mode are one.
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

/// What one node touches, those inside it included. What is only done on a condition replaces nothing for certain.
std::vector<checked_access> accesses_of(const tree_node& n);

/// For each node of a body those before it that it must wait for: who wrote last what it touches, and who has read
/// since what it writes.
std::vector<std::vector<std::uint32_t>> dependencies(const tree_body& all);

}  // namespace troupe::graph
