// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/cuda/capture.hpp>
#include <vector>

namespace troupe::graph {

/// What launches may still use that the GPU has not finished. Freeing it may wait for all that the GPU has to do.
struct left_over {
  cuda::executable_graph graph;
  recorded_constants constants;
  all_scratch scratch;
  std::vector<cuda::device_memory> pieces;
  std::vector<cuda::event> after;
};

/// A graph that can be launched, and changed while the GPU runs what was launched before. For one thread at a time.
class executable {
 public:
  /// From the next launch on it does what `recipe` says. `may_update`: what can be had by changing the parameters of
  /// what is there is had that way. After a failure it must be changed, without that, before it is launched again.
  /// `gone` gets what the GPU no longer needs.
  result<void> change(const recipe_view& recipe, const operation_list& what, decider& decides, CUstream recorder,
                      call& c, bool may_update, std::vector<left_over>& gone);
  result<void> launch(CUstream on);

 private:
  result<captured_graph> record(const recipe_view& recipe, const operation_list& what, decider& decides,
                                CUstream recorder, call& c, all_scratch& scratch);
  result<std::vector<cuda::event>> end_of_launches() const;
  void leave(left_over old);
  void collect(std::vector<left_over>& gone);

  cuda::executable_graph graph_;
  recorded_constants constants_;
  all_scratch scratch_;
  std::vector<CUstream> launched_on_;  // since it was made or changed
  std::vector<left_over> old_;
  std::vector<recorded_constants> spare_;  // were in old_: making and freeing pinned memory takes long
};

}  // namespace troupe::graph
