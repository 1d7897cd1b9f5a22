// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/graph/internal/accesses.hpp>
#include <troupe/graph/internal/core.hpp>

namespace troupe::graph {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

// Writes the nodes of a body, and the edges between them. A node with bodies is drawn as a cluster, with a box for each
// body; edges connect the nodes themselves. The identifiers of the nodes begin with `ids`.
void write(const tree_body& all, const std::string& prefix, const std::string& ids, const std::string& indent,
           std::string& out) {
  const auto id_of = [&](const tree_node& n) { return cat(ids, n.number); };
  const auto box = [&](const tree_body& inside, const tree_node& n, const std::string& id, const char* title) {
    out += indent + "  subgraph \"cluster_" + id + "\" {\n" + indent + "    label=" + quoted(title) + ";\n";
    write(inside, prefix_inside(n, prefix), id + ".", indent + "    ", out);
    out += indent + "  }\n";
  };
  for (const tree_node& n : all) {
    const std::string id = id_of(n);
    const bool simple = n.kind == node_kind::request;
    if (!simple) out += indent + "subgraph \"cluster_" + id + "_all\" {\n";
    out += indent + (simple ? "" : "  ") + quoted(id) + " [label=" + quoted(name_of(n, prefix)) +
           (simple                       ? ", tooltip=" + quoted(n.what->describe())
            : n.kind == node_kind::child ? ""
                                         : ", shape=diamond") +
           "];\n";
    if (simple) continue;
    const char* const title = n.kind == node_kind::if_ ? "then" : n.kind == node_kind::while_ ? "while" : "child";
    box(n.body, n, id, title);
    if (!n.otherwise.empty()) box(n.otherwise, n, id + "e", "otherwise");
    out += indent + "}\n";
  }
  const auto needs = dependencies(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::uint32_t before : needs[i])
      out += indent + quoted(id_of(all[before])) + " -> " + quoted(id_of(all[i])) + ";\n";
}

}  // namespace

std::string to_dot(const std::string& name, const tree_body& all) {
  std::string out = "digraph " + quoted(name) + " {\n  node [shape=box];\n";
  write(all, {}, {}, "  ", out);
  return out + "}\n";
}

}  // namespace troupe::graph
