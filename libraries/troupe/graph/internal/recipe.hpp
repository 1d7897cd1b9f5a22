// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <troupe/request/encoding/codec.hpp>

/// A graph, stored in memory that the application and all workers map at the same address; workers cannot write it. Any
/// worker can make the graph from it, including one that replaces another.
namespace troupe::graph {

enum class node_kind : std::uint8_t;

/// Identifies a graph, whatever its version.
struct graph_root {
  std::uint64_t id;  ///< never reused
  std::uint64_t reserved[7];
};

/// The head of one version of a graph. The nodes follow, each before the nodes inside it, and then the data to which
/// they refer.
struct recipe_head {
  std::uint64_t version;  ///< increases with each change
  std::uint64_t bytes;    ///< size of the whole recipe
  std::uint32_t node_count, dependency_count;
  std::uint32_t branches;
  std::uint32_t name_bytes;
  /// Offset from the head, like all `_at` fields, of the dependencies: indices into the list of nodes, as
  /// std::uint32_t.
  std::uint64_t dependencies_at;
  std::uint64_t name_at;  ///< the graph's name, for texts
};

struct recipe_node {
  std::uint64_t opcode;
  std::uint64_t payload_at, payload_bytes;
  std::uint64_t flag;     ///< address of a std::uint32_t
  std::uint64_t name_at;  ///< for error texts
  std::uint32_t name_bytes;
  std::uint32_t library;
  /// Indices into the list of nodes: the begin of the second body, and the end of the node. The first body follows the
  /// node.
  std::uint32_t otherwise, end;
  std::uint32_t first_dependency, dependency_count;  ///< nodes of the same body for which this node waits
  std::uint32_t branches;                            ///< most parallel branches, for a child graph
  node_kind kind;
  std::uint8_t reserved[3];
};

/// The node that a launch has reached, in its reply. The host engine writes it before each node, in case the node ends
/// the worker.
struct launch_position {
  std::uint64_t ticket;  ///< ticket of the launch
  std::uint64_t node;    ///< index into the list of nodes
};

/// Reads a recipe.
class recipe_view {
 public:
  explicit recipe_view(std::uint64_t address) noexcept
      : head_(reinterpret_cast<const recipe_head*>(static_cast<std::uintptr_t>(address))) {}
  /// Returns true if the recipe is consistent. Call it once before reading anything but the head.
  bool sound() const noexcept;

  const recipe_head& head() const noexcept { return *head_; }
  std::span<const recipe_node> nodes() const noexcept {
    return {reinterpret_cast<const recipe_node*>(bytes() + sizeof(recipe_head)), head_->node_count};
  }
  std::span<const std::uint32_t> dependencies(const recipe_node& n) const noexcept {
    return {reinterpret_cast<const std::uint32_t*>(bytes() + head_->dependencies_at) + n.first_dependency,
            n.dependency_count};
  }
  const std::byte* payload(const recipe_node& n) const noexcept { return bytes() + n.payload_at; }
  std::string_view name() const noexcept {
    return {reinterpret_cast<const char*>(bytes() + head_->name_at), head_->name_bytes};
  }
  std::string_view name(const recipe_node& n) const noexcept {
    return {reinterpret_cast<const char*>(bytes() + n.name_at), n.name_bytes};
  }

 private:
  const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(head_); }

  const recipe_head* head_;
};

}  // namespace troupe::graph
