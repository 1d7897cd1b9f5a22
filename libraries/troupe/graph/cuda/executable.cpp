// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/graph/cuda/executable.hpp>

namespace troupe::graph {
namespace {

using cuda::done;

result<cuda::executable_graph> instantiate(const recipe_view& recipe, const captured_graph& made) {
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  CUgraphExec out = nullptr;
  const CUresult r = ::cuGraphInstantiateWithParams(&out, made.graph.get(), &how);
  if (r == CUDA_SUCCESS) return cuda::executable_graph(out);
  const error why = cuda::failed("cuGraphInstantiate", r);
  if (const auto at = made.last_of.find(how.hErrNode_out); at != made.last_of.end())
    return of_node(recipe, recipe.nodes()[at->second], why);
  return why;
}

}  // namespace

// An update uses the existing scratch, so that memory does not grow with each change: the driver runs the launches of
// one executable graph one after the other. Launches of another executable graph can run in parallel, so a new
// executable graph gets scratch of its own.
result<void> executable::change(const recipe_view& recipe, const operation_list& what, condition_kernel& decides,
                                CUstream recorder, call& c, bool may_update, std::vector<retired_parts>& gone) {
  collect(gone);
  auto after = TROUPE_TRY(end_of_launches());
  if (may_update && graph_) {
    scratch_.begin();
    auto made = TROUPE_TRY(record(recipe, what, decides, recorder, c, scratch_));
    CUgraphExecUpdateResultInfo said{};
    if (::cuGraphExecUpdate(graph_.get(), made.graph.get(), &said) == CUDA_SUCCESS) {
      retire({.graph = {},
              .constants = std::exchange(constants_, std::move(made.constants)),
              .scratch = {},
              .pieces = scratch_.take_unwanted(),
              .after = std::move(after)});
      return {};
    }
    made.constants.begin();
    spare_.push_back(std::move(made.constants));
  }
  all_scratch own;
  auto made = TROUPE_TRY(record(recipe, what, decides, recorder, c, own));
  auto fresh = TROUPE_TRY(instantiate(recipe, made));
  retired_parts old{.graph = std::exchange(graph_, std::move(fresh)),
                    .constants = std::exchange(constants_, std::move(made.constants)),
                    .scratch = std::exchange(scratch_, std::move(own)),
                    .pieces = {},
                    .after = std::move(after)};
  if (old.graph) retire(std::move(old));
  return {};
}

result<void> executable::launch(CUstream on) {
  if (std::find(launched_on_.begin(), launched_on_.end(), on) == launched_on_.end()) launched_on_.push_back(on);
  return done(::cuGraphLaunch(graph_.get(), on), "cuGraphLaunch");
}

result<captured_graph> executable::record(const recipe_view& recipe, const operation_list& what,
                                          condition_kernel& decides, CUstream recorder, call& c, all_scratch& scratch) {
  captured_graph made;
  if (!spare_.empty()) {
    made.constants = std::move(spare_.back());
    spare_.pop_back();
  }
  call inner = c;
  inner.stream = recorder;
  const auto recorded = capture(recipe, what, decides, recorder, inner, scratch, made).run();
  if (inner.library_is_broken) c.library_is_broken = true, c.whose = inner.whose;
  if (!recorded) return recorded.error();
  return made;
}

result<std::vector<cuda::event>> executable::end_of_launches() const {
  std::vector<cuda::event> out;
  for (const CUstream s : launched_on_) {
    CUevent e = nullptr;
    TROUPE_TRY(done(::cuEventCreate(&e, CU_EVENT_DISABLE_TIMING), "cuEventCreate"));
    out.emplace_back(e);
    TROUPE_TRY(done(::cuEventRecord(e, s), "cuEventRecord"));
  }
  return out;
}

void executable::retire(retired_parts old) {
  launched_on_.clear();
  old_.push_back(std::move(old));
}

void executable::collect(std::vector<retired_parts>& gone) {
  const auto is_over = [](const retired_parts& o) {
    return std::all_of(o.after.begin(), o.after.end(),
                       [](const auto& e) { return ::cuEventQuery(e.get()) == CUDA_SUCCESS; });
  };
  const auto first_over = std::partition(old_.begin(), old_.end(), std::not_fn(is_over));
  for (auto o = first_over; o != old_.end(); ++o) {
    o->constants.begin();
    spare_.push_back(std::move(o->constants));
    gone.push_back(std::move(*o));
  }
  old_.erase(first_over, old_.end());
}

}  // namespace troupe::graph
