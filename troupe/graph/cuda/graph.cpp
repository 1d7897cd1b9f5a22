// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The CUDA engine of graph: the driver's graphs, made of what the engines of the requests enqueue.
#include <algorithm>
#include <troupe/cuda/errors.hpp>
#include <troupe/graph/engine/known_graphs.hpp>
#include <troupe/graph/internal/tree.hpp>

#include "capture.hpp"

namespace troupe::graph {
namespace {

using cuda::done;

// What may still be used by launches that the GPU has not finished.
struct left_over {
  cuda::executable_graph executable;
  recorded_memory memory;
  std::vector<cuda::event> after;
};

// A graph that can be launched.
struct built {
  cuda::executable_graph executable;
  recorded_memory memory;
  std::vector<CUstream> launched_on;  // since it was built or changed
  std::vector<left_over> old;
};

class cuda_graphs {
 public:
  static result<std::unique_ptr<cuda_graphs>> make(const engine_context& context) {
    if (context.neighbours == nullptr)
      return error(reaction::unsupported, "graph", "graphs run the requests of other engines, and there are none here");
    std::unique_ptr<cuda_graphs> out(new cuda_graphs(context));
    out->version_ = cuda::driver_text();
    return out;
  }
  const char* version() const { return version_.c_str(); }

  result<void> run(const launch& r, call& c) {
    const recipe_view recipe(r.graph.recipe());
    const auto known = known_.of(r.graph.root());
    const std::scoped_lock guard(known->lock);
    const std::uint64_t openings = among_.openings(among_.set);
    built& g = known->made;
    if (!known->is(recipe, openings)) [[unlikely]] {
      if (auto ok = build(recipe, g, known->version != 0 && known->openings == openings, c); !ok) return ok;
      known->version = recipe.head().version;
      known->openings = openings;
    }
    const auto on = static_cast<CUstream>(c.stream);
    if (std::find(g.launched_on.begin(), g.launched_on.end(), on) == g.launched_on.end()) g.launched_on.push_back(on);
    return done(::cuGraphLaunch(g.executable.get(), on), "cuGraphLaunch");
  }
  // On a helper's thread, when the GPU has run what was launched before.
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

  // A lane is used by one thread at a time, so its own place in the list needs no lock. Its own stream cannot record:
  // others ask it how far it is.
  result<CUstream> recorder_of(const call& c) {
    if (c.lane >= recorders_.size())
      return error(reaction::fatal, "graph", "lane " + std::to_string(c.lane) + " is none of the worker's");
    auto& place = recorders_[c.lane];
    if (!place) {
      CUstream made = nullptr;
      if (auto ok = done(::cuStreamCreate(&made, CU_STREAM_NON_BLOCKING), "cuStreamCreate"); !ok) return ok.error();
      place.reset(made);
    }
    return place.get();
  }

  // Into `g`. What can be had by changing the parameters of what is there is had that way.
  result<void> build(const recipe_view& recipe, built& g, bool may_update, call& c) {
    const auto what = find_operations(recipe, among_, true);
    if (!what) return what.error();
    const auto stream = recorder_of(c);
    if (!stream) return stream.error();
    call inner = c;
    inner.stream = *stream;
    captured_graph made;
    const auto recorded = capture(recipe, *what, decides_, *stream, inner, made).run();
    if (inner.library_is_broken) c.library_is_broken = true, c.whose = inner.whose;
    if (!recorded) return recorded;
    clear_out(g);
    if (may_update && g.executable) {
      CUgraphExecUpdateResultInfo said{};
      if (::cuGraphExecUpdate(g.executable.get(), made.graph.get(), &said) == CUDA_SUCCESS) {
        if (auto ok = retire(g, {}); !ok) return ok;
        g.memory = std::move(made.memory);
        return {};
      }
    }
    auto executable = instantiate(recipe, made);
    if (!executable) return executable.error();
    if (g.executable)
      if (auto ok = retire(g, std::move(g.executable)); !ok) return ok;
    g.executable = std::move(*executable);
    g.memory = std::move(made.memory);
    return {};
  }

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

  // Launches so far keep what they need until they are done.
  result<void> retire(built& g, cuda::executable_graph executable) {
    left_over old{std::move(executable), std::move(g.memory), {}};
    for (const CUstream s : g.launched_on) {
      CUevent e = nullptr;
      if (auto ok = done(::cuEventCreate(&e, CU_EVENT_DISABLE_TIMING), "cuEventCreate"); !ok) return ok;
      old.after.emplace_back(e);
      if (auto ok = done(::cuEventRecord(e, s), "cuEventRecord"); !ok) return ok;
    }
    g.launched_on.clear();
    g.memory = {};
    g.old.push_back(std::move(old));
    return {};
  }
  static void clear_out(built& g) {
    std::erase_if(g.old, [](const left_over& o) {
      return std::all_of(o.after.begin(), o.after.end(),
                         [](const auto& e) { return ::cuEventQuery(e.get()) == CUDA_SUCCESS; });
    });
  }

  const troupe_engine_neighbours among_;
  std::string version_;
  decider decides_;
  std::vector<cuda::stream> recorders_;  // by lane
  known_graphs<built> known_;
};

}  // namespace
}  // namespace troupe::graph

using namespace troupe::graph;
TROUPE_ENGINE(cuda_graphs, "graph", "cuda", launch, troupe::slow<unload>)
