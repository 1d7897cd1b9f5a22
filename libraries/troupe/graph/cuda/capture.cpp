// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/cuda/embedded.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/graph/cuda/capture.hpp>
#include <troupe/graph/internal/tree.hpp>

// The fatbin that capture.cu is compiled to.
TROUPE_EMBEDDED(troupe_graph_kernels, TROUPE_KERNELS);

namespace troupe::graph {
namespace {

using cuda::done;

error unsupported(const std::string& text) { return error(reaction::unsupported, "graph", text); }
// Returns true if the context itself is lost. After a failed recording, an engine may wrongly conclude that from the
// errors of its stream.
bool is_lost(const error& why) {
  return why.reaction() == reaction::context_lost && cuda::is_sticky(static_cast<CUresult>(why.code()));
}

}  // namespace

result<CUkernel> condition_kernel::kernel() {
  const std::scoped_lock guard(lock_);
  if (kernel_ != nullptr) return kernel_;
  CUlibrary library = nullptr;
  TROUPE_TRY(done(::cuLibraryLoadData(&library, troupe_graph_kernels, nullptr, nullptr, 0, nullptr, nullptr, 0),
                  "cuLibraryLoadData of the kernel that evaluates conditions"));
  library_.reset(library);
  TROUPE_TRY(done(::cuLibraryGetKernel(&kernel_, library, "troupe_graph_decide"), "cuLibraryGetKernel"));
  return kernel_;
}

/// Provides memory to the operation that is being recorded.
struct capture::operation_memory {
  capture& of;
  level& in;
  bool scratch_taken = false;

  static void* answer(const result<void*>& made, troupe_engine_failure* failure) {
    if (made) return *made;
    const error& e = made.error();
    troupe::detail::fill(failure, e.reaction(), e.code(), e.domain().c_str(), e.text().c_str());
    return nullptr;
  }
  result<void*> scratch(std::uint64_t bytes) {
    if (!std::exchange(scratch_taken, true) && !in.last_user.empty())
      if (auto ok =
              done(::cuStreamUpdateCaptureDependencies_v2(of.stream_, in.last_user.data(), nullptr, in.last_user.size(),
                                                          CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
                   "cuStreamUpdateCaptureDependencies");
          !ok)
        return ok.error();
    return in.scratch.take(bytes);
  }
  troupe_engine_recording recording() {
    return {.state = this,
            .scratch =
                [](void* self, std::uint64_t bytes, troupe_engine_failure* f) {
                  return answer(static_cast<operation_memory*>(self)->scratch(bytes), f);
                },
            .constants =
                [](void* self, std::uint64_t bytes, troupe_engine_failure* f) {
                  return answer(static_cast<operation_memory*>(self)->of.into_.constants.take(bytes), f);
                }};
  }
};

result<void> capture::run() {
  CUgraph made = nullptr;
  TROUPE_TRY(done(::cuGraphCreate(&made, 0), "cuGraphCreate"));
  into_.graph.reset(made);
  reply_ = TROUPE_TRY(into_.constants.take(max_reply_bytes));
  level top{made, scratch_.next(), {}};
  const auto all = body(top, 0, recipe_.head().node_count, recipe_.head().branches, {});
  return all ? result<void>() : all.error();
}

// Captures the nodes in [i, end) as at most `branches` parallel branches after `after`. A node continues the most
// recently used branch whose last node it needs; if there is no such branch, it is appended to the least recently used
// one. Returns the last driver nodes of all branches.
result<capture::ends> capture::body(level& in, std::uint32_t i, std::uint32_t end, std::uint32_t branches,
                                    const ends& after) {
  struct branch {
    std::uint32_t last;  // last node of the branch
    std::uint64_t used = 0;
  };
  // More branches than nodes are of no use, whatever the application allows.
  const std::uint32_t most = std::min(branches, end - i);
  std::vector<branch> all(std::max<std::uint32_t>(most, 1), branch{UINT32_MAX});
  std::unordered_map<std::uint32_t, ends> known;  // for each node of this body, its last driver nodes
  std::uint64_t turn = 0;
  while (i < end) {
    const recipe_node& n = recipe_.nodes()[i];
    const auto needs = recipe_.dependencies(n);
    branch* on = nullptr;
    for (branch& b : all)
      if (std::find(needs.begin(), needs.end(), b.last) != needs.end() && (on == nullptr || b.used > on->used)) on = &b;
    ends before;
    const auto wait_for = [&](std::uint32_t who) {
      for (const CUgraphNode e : known.at(who))
        if (std::find(before.begin(), before.end(), e) == before.end()) before.push_back(e);
    };
    for (const std::uint32_t d : needs) wait_for(d);
    if (on == nullptr) {
      on = &*std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.used < b.used; });
      if (on->last != UINT32_MAX) wait_for(on->last);
    }
    auto made = TROUPE_TRY(node(in, i, branches, before.empty() ? after : before));
    known.emplace(i, std::move(made));
    on->last = i;
    on->used = ++turn;
    i = n.end;
  }
  ends out;
  for (const branch& b : all)
    if (b.last != UINT32_MAX) out.insert(out.end(), known.at(b.last).begin(), known.at(b.last).end());
  return out.empty() ? after : out;
}

result<capture::ends> capture::node(level& in, std::uint32_t i, std::uint32_t branches, const ends& after) {
  const recipe_node& n = recipe_.nodes()[i];
  switch (n.kind) {
    case node_kind::request:
      return request(in, i, after);
    case node_kind::child:
      return body(in, i + 1, n.end, n.branches, after);
    case node_kind::if_:
    case node_kind::while_:
      return conditional(in, i, branches, after);
  }
  return damaged();
}

// The capture mode is relaxed, because an operation may load a kernel or allocate memory, as it does outside of a
// graph. Neither becomes part of the recording.
result<capture::ends> capture::request(level& in, std::uint32_t i, const ends& after) {
  const recipe_node& n = recipe_.nodes()[i];
  if (auto ok = done(::cuStreamBeginCaptureToGraph(stream_, in.graph, after.data(), nullptr, after.size(),
                                                   CU_STREAM_CAPTURE_MODE_RELAXED),
                     "cuStreamBeginCaptureToGraph");
      !ok)
    return of_node(recipe_, n, ok.error());
  in.scratch.begin();
  operation_memory takes{*this, in};
  const troupe_engine_recording recording = takes.recording();
  result<void> enqueued = run_node(recipe_, n, what_[i], call_, reply_, &recording);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* last = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  const CUresult asked = ::cuStreamGetCaptureInfo_v3(stream_, &status, nullptr, nullptr, &last, &edges, &count);
  ends out;
  if (asked == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE) out.assign(last, last + count);
  CUgraph same = nullptr;
  const CUresult ended = ::cuStreamEndCapture(stream_, &same);
  if (!enqueued && is_lost(enqueued.error())) return enqueued.error();
  // This is checked before the operation's own result: if the recording was invalidated, the operation's failure is
  // only a consequence, and so is an engine's conclusion that its library is broken.
  if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED && !cuda::is_sticky(ended)) {
    call_.library_is_broken = false;
    return of_node(recipe_, n,
                   unsupported("its engine made a call that cannot be part of a graph (" + cuda::text_of(ended) +
                               "); send it before or after the graph"));
  }
  if (!enqueued) return enqueued.error();
  if (auto ok = done(asked, "cuStreamGetCaptureInfo"); !ok) return of_node(recipe_, n, ok.error());
  if (auto ok = done(ended, "cuStreamEndCapture"); !ok) return of_node(recipe_, n, ok.error());
  for (const CUgraphNode e : out) into_.last_of.emplace(e, i);
  if (takes.scratch_taken) in.last_user = out;
  return out;
}

result<CUgraphNode> capture::decide(level& in, const recipe_node& n, CUgraphConditionalHandle handle,
                                    const ends& after) {
  const auto kernel = TROUPE_TRY(decides_.kernel());
  std::uint64_t flag = n.flag;
  void* values[] = {&handle, &flag};
  CUgraphNodeParams how{};
  how.type = CU_GRAPH_NODE_TYPE_KERNEL;
  how.kernel.kern = kernel;
  how.kernel.ctx = decides_.context();
  how.kernel.gridDimX = how.kernel.gridDimY = how.kernel.gridDimZ = 1;
  how.kernel.blockDimX = how.kernel.blockDimY = how.kernel.blockDimZ = 1;
  how.kernel.kernelParams = values;
  CUgraphNode out = nullptr;
  TROUPE_TRY(done(::cuGraphAddNode_v2(&out, in.graph, after.data(), nullptr, after.size(), &how),
                  "cuGraphAddNode of the kernel that evaluates conditions"));
  return out;
}

result<capture::ends> capture::conditional(level& in, std::uint32_t i, std::uint32_t branches, const ends& after) {
  const recipe_node& n = recipe_.nodes()[i];
  const bool repeats = n.kind == node_kind::while_;
  const auto refused = [&](const error& why) {
    const bool cannot = why.reaction() == reaction::fatal || why.reaction() == reaction::unsupported;
    if (!cannot) return of_node(recipe_, n, why);
    return of_node(
        recipe_, n,
        unsupported("this driver or GPU cannot evaluate conditions within a graph, which needs CUDA 12.8: " +
                    why.text() + "; let the application decide, and send the bodies as graphs of their own"));
  };
  CUgraphConditionalHandle handle = 0;
  if (auto ok = done(::cuGraphConditionalHandleCreate(&handle, in.graph, decides_.context(), 0, 0),
                     "cuGraphConditionalHandleCreate");
      !ok)
    return refused(ok.error());
  const auto first = decide(in, n, handle, after);
  if (!first) return refused(first.error());
  CUgraphNodeParams how{};
  how.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  how.conditional.handle = handle;
  how.conditional.type = repeats ? CU_GRAPH_COND_TYPE_WHILE : CU_GRAPH_COND_TYPE_IF;
  how.conditional.size = n.otherwise < n.end ? 2 : 1;
  how.conditional.ctx = decides_.context();
  CUgraphNode out = nullptr;
  if (auto ok = done(::cuGraphAddNode_v2(&out, in.graph, &*first, nullptr, 1, &how), "cuGraphAddNode of a condition");
      !ok)
    return refused(ok.error());
  into_.last_of.emplace(*first, i);
  into_.last_of.emplace(out, i);
  for (unsigned part = 0; part < how.conditional.size; ++part) {
    level inside{how.conditional.phGraph_out[part], scratch_.next(), {}};
    const auto last =
        TROUPE_TRY(body(inside, part == 0 ? i + 1 : n.otherwise, part == 0 ? n.otherwise : n.end, branches, {}));
    if (!repeats) continue;
    if (const auto again = decide(inside, n, handle, last); !again) return refused(again.error());
  }
  return ends{out};
}

}  // namespace troupe::graph
