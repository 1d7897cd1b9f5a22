// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <troupe/graph/cuda/memory.hpp>
#include <troupe/graph/engine/operations.hpp>
#include <unordered_map>

namespace troupe::graph {

/// The kernel that conditional nodes need, loaded when the first is met.
class decider {
 public:
  explicit decider(CUcontext context) noexcept : context_(context) {}
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
  /// For errors: which node of the recipe a node of the driver ends.
  std::unordered_map<CUgraphNode, std::uint32_t> last_of;
};

/// Records the nodes of a recipe: each request enqueues what it would, on a stream that records. Those that need
/// nothing of each other lie in branches beside each other, as many as their graph allows. `scratch` is what they work
/// in: it must stay as long as what is made.
class capture {
 public:
  capture(const recipe_view& recipe, const operation_list& what, decider& decides, CUstream stream, call& c,
          all_scratch& scratch, captured_graph& into)
      : recipe_(recipe), what_(what), decides_(decides), stream_(stream), call_(c), scratch_(scratch), into_(into) {}
  result<void> run();

 private:
  using ends = std::vector<CUgraphNode>;  // what somebody waits for who comes after all of it
  /// One CUgraph: that of the launch, or the body of a conditional node.
  struct level {
    CUgraph graph;
    recorded_scratch& scratch;
    ends last_user;  // of the scratch
  };
  struct taking;  // what the operation that records now has asked for

  result<ends> body(level& in, std::uint32_t i, std::uint32_t end, std::uint32_t branches, const ends& after);
  result<ends> node(level& in, std::uint32_t i, std::uint32_t branches, const ends& after);
  result<ends> request(level& in, std::uint32_t i, const ends& after);
  result<ends> conditional(level& in, std::uint32_t i, std::uint32_t branches, const ends& after);
  result<CUgraphNode> decide(level& in, const recipe_node& n, CUgraphConditionalHandle handle, const ends& after);

  const recipe_view& recipe_;
  const operation_list& what_;
  decider& decides_;
  CUstream stream_;
  call& call_;
  all_scratch& scratch_;
  captured_graph& into_;
  void* reply_ = nullptr;  // where all answers go
};

}  // namespace troupe::graph
