// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/cuda/capture.hpp>
#include <vector>

namespace troupe::graph {

/// Parts that unfinished launches may still use. Freeing them may wait for all work of the GPU.
struct retired_parts {
  cuda::executable_graph graph;
  recorded_constants constants;
  all_scratch scratch;
  std::vector<cuda::device_memory> pieces;
  std::vector<cuda::event> after;
};

/// A graph that can be launched, and that can be changed while the GPU runs earlier launches. Not thread-safe.
class executable {
 public:
  /// Makes later launches do what `recipe` says. If `may_update`, changes the parameters of the existing graph where
  /// possible. After a failure, call this without `may_update` before the next launch. `gone` receives the parts that
  /// the GPU no longer uses.
  result<void> change(const recipe_view& recipe, const operation_list& what, condition_kernel& decides,
                      CUstream recorder, call& c, bool may_update, std::vector<retired_parts>& gone);
  result<void> launch(CUstream on);

 private:
  result<captured_graph> record(const recipe_view& recipe, const operation_list& what, condition_kernel& decides,
                                CUstream recorder, call& c, all_scratch& scratch);
  result<std::vector<cuda::event>> end_of_launches() const;
  void retire(retired_parts old);
  void collect(std::vector<retired_parts>& gone);

  cuda::executable_graph graph_;
  recorded_constants constants_;
  all_scratch scratch_;
  std::vector<CUstream> launched_on_;  // streams of launches since the last change
  std::vector<retired_parts> old_;
  // kept from old_ for reuse, because allocating and freeing pinned memory is slow
  std::vector<recorded_constants> spare_;
};

}  // namespace troupe::graph
