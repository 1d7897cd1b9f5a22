// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/graph/cuda/memory.hpp>
#include <troupe/graph/engine/operations.hpp>
#include <unordered_map>

namespace troupe::graph {

/// The kernel that evaluates the flag of conditional nodes, loaded on first use.
class condition_kernel {
 public:
  explicit condition_kernel(CUcontext context) noexcept : context_(context) {}
  result<CUkernel> kernel();
  CUcontext context() const noexcept { return context_; }

 private:
  CUcontext context_;
  std::mutex lock_;
  cuda::code_library library_;
  CUkernel kernel_ = nullptr;
};

/// A recipe as a graph of the driver, not yet executable.
struct captured_graph {
  cuda::graph graph;
  recorded_constants constants;
  /// For each driver node that is the last one of a recipe's node: that node's index, for error texts.
  std::unordered_map<CUgraphNode, std::uint32_t> last_of;
};

/// Records the nodes of a recipe: each request enqueues its work on a stream that is being captured. Independent nodes
/// are placed on parallel branches, of which there are at most as many as their graph allows. Operations use `scratch`,
/// which must outlive the recorded graph.
class capture {
 public:
  capture(const recipe_view& recipe, const operation_list& what, condition_kernel& decides, CUstream stream, call& c,
          all_scratch& scratch, captured_graph& into)
      : recipe_(recipe), what_(what), decides_(decides), stream_(stream), call_(c), scratch_(scratch), into_(into) {}
  result<void> run();

 private:
  using ends = std::vector<CUgraphNode>;  // driver nodes for which a successor must wait
  /// One CUgraph: that of the launch, or the body of a conditional node.
  struct level {
    CUgraph graph;
    recorded_scratch& scratch;
    ends last_user;  // driver nodes of the last operation that uses the scratch memory
  };
  struct operation_memory;

  result<ends> body(level& in, std::uint32_t i, std::uint32_t end, std::uint32_t branches, const ends& after);
  result<ends> node(level& in, std::uint32_t i, std::uint32_t branches, const ends& after);
  result<ends> request(level& in, std::uint32_t i, const ends& after);
  result<ends> conditional(level& in, std::uint32_t i, std::uint32_t branches, const ends& after);
  result<CUgraphNode> decide(level& in, const recipe_node& n, CUgraphConditionalHandle handle, const ends& after);

  const recipe_view& recipe_;
  const operation_list& what_;
  condition_kernel& decides_;
  CUstream stream_;
  call& call_;
  all_scratch& scratch_;
  captured_graph& into_;
  void* reply_ = nullptr;  // memory to which all replies are written
};

}  // namespace troupe::graph
