// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/text/cat.hpp>
#include <troupe/graph/step.hpp>

namespace troupe::graph {

enum class node_kind : std::uint8_t { request, child, if_, while_ };

struct tree_node;
using tree_body = std::vector<tree_node>;

/// A node as the application stores it.
struct tree_node {
  node_kind kind = node_kind::request;
  std::uint32_t number = 0;  ///< in its graph; the nodes of a child graph are numbered separately
  std::string label;
  /// child graphs only: true if the application named the node; false if it has the child's name
  bool own_label = false;
  std::uint32_t branches = 1;        ///< child graphs only: most parallel branches
  std::shared_ptr<const step> what;  ///< the request; for if_ and while_, a `condition`
  tree_body body, otherwise;         ///< the nodes inside; `otherwise` for if_ only
};

/// The flag of an if_ or while_, as a request. It is never sent to a device; it stands for the flag when the operands
/// of requests are recorded, checked or moved.
struct condition {
  in<std::uint32_t> flag;
  TROUPE_REQUEST("graph.condition", flag)
  void check(checker& c) const { c.elements(flag, 1); }
};

/// Returns "node 3 (blas.gemm<f32>)", or "node 5.3 \"scale\" (jit.launch scale (scale.cu))" for `prefix` "5.", in child
/// graph 5.
std::string name_of(const tree_node& n, const std::string& prefix);
/// Returns the prefix of the names of the nodes inside `n`.
inline std::string prefix_inside(const tree_node& n, const std::string& prefix) {
  return n.kind == node_kind::child ? cat(prefix, n.number, ".") : prefix;
}
std::size_t count_of(const tree_body& all);

}  // namespace troupe::graph
