// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <troupe/request/codec.hpp>

/// A graph as it lies in memory that application and workers see at the same address, and workers may only read. So any
/// worker can make it, also one that takes the place of another.
namespace troupe::graph {

enum class node_kind : std::uint8_t;

/// Stands for a graph: it has one for its whole life.
struct graph_root {
  std::uint64_t id;  ///< never given twice
  std::uint64_t reserved[7];
};

/// Begins one version of a graph: the nodes follow, each before those inside it, then what they speak of.
struct recipe_head {
  std::uint64_t version;  ///< counts the changes
  std::uint64_t bytes;    ///< of all
  std::uint32_t node_count, dependency_count;
  std::uint32_t branches;
  std::uint32_t reserved;
  std::uint64_t dependencies_at;  ///< from the head on, as all places are: std::uint32_t, numbers of nodes in the list
};

struct recipe_node {
  std::uint64_t opcode;
  std::uint64_t payload_at, payload_bytes;
  std::uint64_t flag;     ///< address of a std::uint32_t
  std::uint64_t name_at;  ///< as error texts show it
  std::uint32_t name_bytes;
  std::uint32_t library;
  std::uint32_t otherwise, end;  ///< where its second body begins in the list, and where it ends; the first follows it
  std::uint32_t first_dependency, dependency_count;  ///< nodes beside it that come before it
  std::uint32_t branches;                            ///< of a child
  node_kind kind;
  std::uint8_t reserved[3];
};

/// A recipe, read.
class recipe_view {
 public:
  explicit recipe_view(std::uint64_t address) noexcept
      : head_(reinterpret_cast<const recipe_head*>(static_cast<std::uintptr_t>(address))) {}
  /// To be asked once, before anything but the head is looked at.
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
  std::string_view name(const recipe_node& n) const noexcept {
    return {reinterpret_cast<const char*>(bytes() + n.name_at), n.name_bytes};
  }

 private:
  const std::byte* bytes() const noexcept { return reinterpret_cast<const std::byte*>(head_); }

  const recipe_head* head_;
};

}  // namespace troupe::graph
