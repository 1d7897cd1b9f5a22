// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/graph/recorded.hpp>

namespace troupe::graph {

/// A graph as it was at some moment, ready to be launched.
struct version {
  std::uint64_t root = 0, recipe = 0;
  std::vector<snapshot::use> uses;
  struct program_use {
    std::shared_ptr<kernel::program_core> program;
    std::string node;
  };
  std::vector<program_use> programs;  ///< each once
};

/// What all handles to a graph share. In the application.
class core {
 public:
  core(const device& gpu, std::string name, std::uint32_t branches, std::uint64_t id, tree_body all,
       std::optional<error> wrong);
  core(const core&) = delete;
  /// Nothing of it is under way any more, or it is waited for: the worker lets go of it.
  ~core();

  const device& gpu() const noexcept { return gpu_; }
  const std::string& name() const noexcept { return name_; }
  std::uint32_t branches() const noexcept { return branches_; }
  std::uint64_t id() const noexcept { return id_; }
  std::optional<error> wrong() const;

  /// Thread safe, all of them.
  tree_body copy() const;
  std::size_t size() const;
  result<std::shared_ptr<const version>> now();
  /// `change` answers what would be wrong with it, and then has changed nothing.
  result<void> change(const std::function<result<void>(tree_body&)>& change);

 private:
  result<std::shared_ptr<const version>> write() const;

  device gpu_;
  const std::string name_;
  const std::uint32_t branches_;
  const std::uint64_t id_;
  memory_range root_;
  const std::optional<error> wrong_;
  mutable std::mutex lock_;
  tree_body all_;
  std::uint64_t changes_ = 0;
  std::shared_ptr<const version> now_;  // null after a change
  bool launched_ = false;               // perhaps: a worker may know it
};

/// Unique among the graphs of this process.
std::uint64_t next_graph_id();

/// The node with this number; null when there is none.
tree_node* find(tree_body& all, std::uint32_t number);

std::string to_dot(const std::string& name, const tree_body& all);

}  // namespace troupe::graph
