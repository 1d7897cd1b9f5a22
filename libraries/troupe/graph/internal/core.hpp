// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <troupe/graph/internal/tree.hpp>
#include <troupe/graph/recorded.hpp>

namespace troupe::graph {

/// One version of a graph, ready to be launched.
struct version {
  std::uint64_t root = 0, recipe = 0;
  std::vector<snapshot::use> uses;
  struct program_use {
    std::shared_ptr<kernel::program_core> program;
    std::string node;
  };
  std::vector<program_use> programs;  ///< without duplicates
};

/// The state that all handles of a graph share, in the application.
class core {
 public:
  core(const device& gpu, std::string name, std::uint32_t branches, std::uint64_t id, tree_body all,
       std::optional<error> wrong);
  core(const core&) = delete;
  /// Tells the worker to free the graph after its launches.
  ~core();

  const device& gpu() const noexcept { return gpu_; }
  const std::string& name() const noexcept { return name_; }
  std::uint32_t branches() const noexcept { return branches_; }
  std::uint64_t id() const noexcept { return id_; }
  std::optional<error> wrong() const;

  /// These functions are thread-safe.
  tree_body copy() const;
  std::size_t size() const;
  result<std::shared_ptr<const version>> now();
  /// Returns the error of a launch that reads this stale memory. It names the node that reads.
  error stale_input(const memory_range& where, const error& cause) const;
  /// Changes the graph. If `change` fails, the graph stays as it is.
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
  std::shared_ptr<const version> now_;  // made when the next launch needs it; null after a change
  bool launched_ = false;               // whether a worker may know the graph
};

/// Returns an id that is unique among the graphs of this process.
std::uint64_t next_graph_id();

/// Returns the node with this number, or null.
tree_node* find(tree_body& all, std::uint32_t number);

std::string to_dot(const std::string& name, const tree_body& all);

}  // namespace troupe::graph
