// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/cat.hpp>
#include <troupe/graph/step.hpp>

namespace troupe::graph {

enum class node_kind : std::uint8_t { request, child, if_, while_ };

struct tree_node;
using tree_body = std::vector<tree_node>;

/// A node as the application stores it.
struct tree_node {
  node_kind kind = node_kind::request;
  std::uint32_t number = 0;  ///< in its graph; the nodes of a child are numbered separately
  std::string label;
  bool own_label = false;      ///< of a child: true if the application named the node, false if it has the child's name
  std::uint32_t branches = 1;  ///< of a child
  std::shared_ptr<const step> what;  ///< of a request; for if_ and while_ it is a `condition`
  tree_body body, otherwise;         ///< of all but requests; `otherwise` of if_
};

/// The flag of an if_ or while_. Never sent to a device: it represents the flag where requests are recorded, checked or
/// moved.
struct condition {
  in<std::uint32_t> flag;
  using reply = void;
  TROUPE_REQUEST("graph.condition", flag)
  void check(checker& c) const { c.elements(flag, 1); }
};

/// "node 3 (blas.gemm<f32>)", "node 5.3 \"scale\" (jit.launch scale (scale.cu))"; `prefix` is "5." in child 5.
std::string name_of(const tree_node& n, const std::string& prefix);
/// Returns the prefix for names of the nodes inside.
inline std::string prefix_inside(const tree_node& n, const std::string& prefix) {
  return n.kind == node_kind::child ? cat(prefix, n.number, ".") : prefix;
}
std::size_t count_of(const tree_body& all);

}  // namespace troupe::graph
