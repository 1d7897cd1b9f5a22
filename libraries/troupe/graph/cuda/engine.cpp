// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of graph: graphs of the driver, made of the work that the requests' engines enqueue.
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/graph/cuda/executable.hpp>
#include <troupe/graph/engine/known_graphs.hpp>

namespace troupe::graph {
namespace {

class cuda_graphs {
 public:
  static result<std::unique_ptr<cuda_graphs>> make(const engine_context& context) {
    if (context.neighbours == nullptr)
      return error(reaction::unsupported, "graph",
                   "graphs run requests of other engines, but this worker has no other engines");
    std::unique_ptr<cuda_graphs> out(new cuda_graphs(context));
    out->version_ = cuda::driver_text();
    return out;
  }
  const char* version() const { return version_.c_str(); }

  result<void> run(const launch& r, call& c) {
    const recipe_view recipe(r.graph.recipe());
    const auto known = known_.of(r.graph.root());
    std::vector<retired_parts> gone;  // freed after the lock is released
    const std::scoped_lock guard(known->lock);
    const std::uint64_t openings = among_.openings(among_.set);
    if (!known->is(recipe, openings)) [[unlikely]] {
      const bool may_update = known->version != 0 && known->openings == openings;
      known->version = 0;  // no version, until the change has succeeded
      TROUPE_TRY(change(known->made, recipe, may_update, c, gone));
      known->version = recipe.head().version;
      known->openings = openings;
    }
    return known->made.launch(static_cast<CUstream>(c.stream));
  }
  // Runs on a helper thread, after the GPU has run the earlier launches.
  result<void> run(const unload& r, call&) {
    known_.forget(reinterpret_cast<std::uintptr_t>(r.root.data()));
    return {};
  }
  bool ready(const launch& r) {
    return known_.is_made(r.graph.root(), recipe_view(r.graph.recipe()), among_.openings(among_.set));
  }

 private:
  explicit cuda_graphs(const engine_context& context)
      : among_(*context.neighbours),
        decides_(static_cast<CUcontext>(context.native_context)),
        recorders_(context.lanes) {}

  // Returns the stream for recordings on a lane. A lane is used by one thread at a time, so its element of the list
  // needs no lock. The lane's own stream cannot be captured, because other threads query it.
  result<CUstream> recorder_of(const call& c) {
    if (c.lane >= recorders_.size())
      return error(reaction::fatal, "graph", cat("lane ", c.lane, " is not a lane of this worker"));
    auto& place = recorders_[c.lane];
    if (!place) {
      CUstream made = nullptr;
      TROUPE_TRY(cuda::done(::cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
      place.reset(made);
    }
    return place.get();
  }

  result<void> change(executable& g, const recipe_view& recipe, bool may_update, call& c,
                      std::vector<retired_parts>& gone) {
    const auto what = TROUPE_TRY(find_operations(recipe, among_, true));
    const auto stream = TROUPE_TRY(recorder_of(c));
    return g.change(recipe, what, decides_, stream, c, may_update, gone);
  }

  const troupe_engine_neighbours among_;
  std::string version_;
  condition_kernel decides_;
  std::vector<cuda::stream> recorders_;  // indexed by lane
  known_graphs<executable> known_;
};

}  // namespace
}  // namespace troupe::graph

using namespace troupe::graph;
TROUPE_ENGINE(cuda_graphs, "graph", "cuda", troupe::with_slow<all_requests, unload>)
