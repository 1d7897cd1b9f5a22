// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/recorded.hpp>
#include <troupe/request/request_list.hpp>

namespace troupe::graph {

/// Runs the recorded requests as if one after the other. It is a request like any other: it reads and writes what they
/// read and write, waits for what they need, and fails as a whole with the error of the node that failed. Memory that a
/// node replaces before another one reads it may be stale before. Memory that is replaced only in the body of an `if_`
/// or `while_` stays stale.   cuGraphLaunch
struct launch {
  snapshot graph;
  static constexpr std::string_view not_recorded = "a graph is added as a child: recorder::add(graph)";
  TROUPE_REQUEST("graph.launch", graph)
  void check(checker& c) const;
};

/// Frees the graph in the worker. Sent when the last handle is destroyed; runs after all launches.   cuGraphExecDestroy
struct unload {
  out<std::byte> root;
  static constexpr std::string_view not_recorded = "it ends a graph, which is done once";
  TROUPE_REQUEST("graph.unload", root)
  void check(checker& c) const;
};

using all_requests = request_list<launch, unload>;

}  // namespace troupe::graph
