// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How a recipe becomes a graph of the driver, on a driver that only notes what it is told.
#include "capture.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <troupe/graph/internal/accesses.hpp>
#include <troupe/graph/internal/recipe_writer.hpp>

namespace {

struct fake_graph;
struct fake_node {
  std::string what;
  std::vector<fake_node*> before;
  std::vector<fake_graph*> bodies;
};
struct fake_graph {
  std::deque<fake_node> nodes;
  fake_node* add(std::string what, std::vector<fake_node*> before) {
    return &nodes.emplace_back(fake_node{std::move(what), std::move(before), {}});
  }
};
// The one stream that records.
struct fake_stream {
  fake_graph* into = nullptr;
  std::vector<fake_node*> last;
  bool invalid = false;
  void enqueue(const std::string& what) {
    fake_node* const made = into->add(what, last);
    last = {made};
  }
} stream;
std::deque<fake_graph> graphs;
std::deque<std::vector<CUgraph>> body_lists;
int kernels_loaded = 0;

std::vector<fake_node*> list_of(const CUgraphNode* first, std::size_t count) {
  std::vector<fake_node*> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(reinterpret_cast<fake_node*>(first[i]));
  return out;
}

}  // namespace

extern "C" {
CUresult cuGraphCreate(CUgraph* out, unsigned) {
  return *out = reinterpret_cast<CUgraph>(&graphs.emplace_back()), CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
CUresult cuGraphExecDestroy(CUgraphExec) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy(CUstream) { return CUDA_SUCCESS; }
CUresult cuEventDestroy(CUevent) { return CUDA_SUCCESS; }
CUresult cuLibraryUnload(CUlibrary) { return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr* out, std::size_t bytes) {
  return *out = reinterpret_cast<CUdeviceptr>(std::malloc(bytes)), CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr p) { return std::free(reinterpret_cast<void*>(p)), CUDA_SUCCESS; }
CUresult cuMemHostAlloc(void** out, std::size_t bytes, unsigned) { return *out = std::malloc(bytes), CUDA_SUCCESS; }
CUresult cuMemFreeHost(void* p) { return std::free(p), CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** out) { return *out = "CUDA_ERROR", CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** out) { return *out = "an error", CUDA_SUCCESS; }
CUresult cuLibraryLoadData(CUlibrary* out, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  ++kernels_loaded;
  return *out = reinterpret_cast<CUlibrary>(1), CUDA_SUCCESS;
}
CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary, const char*) {
  return *out = reinterpret_cast<CUkernel>(1), CUDA_SUCCESS;
}
CUresult cuStreamBeginCaptureToGraph(CUstream, CUgraph g, const CUgraphNode* before, const CUgraphEdgeData*,
                                     std::size_t count, CUstreamCaptureMode mode) {
  EXPECT_EQ(stream.into, nullptr) << "it records already";
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  stream = {reinterpret_cast<fake_graph*>(g), list_of(before, count), false};
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v3(CUstream, CUstreamCaptureStatus* status, cuuint64_t*, CUgraph*,
                                   const CUgraphNode** last, const CUgraphEdgeData**, std::size_t* count) {
  *status = stream.invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  *last = reinterpret_cast<const CUgraphNode*>(stream.last.data());
  *count = stream.last.size();
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream, CUgraphNode* more, const CUgraphEdgeData*, std::size_t count,
                                              unsigned) {
  for (fake_node* n : list_of(more, count)) stream.last.push_back(n);
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  stream.into = nullptr;
  return stream.invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph, CUcontext, unsigned, unsigned) {
  static CUgraphConditionalHandle last = 0;
  return *out = ++last, CUDA_SUCCESS;
}
CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph g, const CUgraphNode* before, const CUgraphEdgeData*,
                           std::size_t count, CUgraphNodeParams* how) {
  const bool decides = how->type == CU_GRAPH_NODE_TYPE_KERNEL;
  std::string what = how->conditional.type == CU_GRAPH_COND_TYPE_WHILE ? "while" : "if";
  if (decides) what = "decide";
  fake_node* const made = reinterpret_cast<fake_graph*>(g)->add(what, list_of(before, count));
  *out = reinterpret_cast<CUgraphNode>(made);
  if (decides) return CUDA_SUCCESS;
  std::vector<CUgraph>& bodies = body_lists.emplace_back();
  for (unsigned i = 0; i < how->conditional.size; ++i) {
    made->bodies.push_back(&graphs.emplace_back());
    bodies.push_back(reinterpret_cast<CUgraph>(made->bodies.back()));
  }
  how->conditional.phGraph_out = bodies.data();
  return CUDA_SUCCESS;
}
}

namespace troupe::graph {
namespace {

struct numbered {
  std::uint64_t number;
  using reply = void;
  TROUPE_REQUEST("testing.numbered", number)
  void check(checker&) const {}
};

enum class kind : std::uint8_t {
  plain,
  in_two_steps,
  needs_scratch,
  fails,
  cannot_be_recorded,
  fails_while_invalid,
  loses_the_context
};

/// A step that enqueues its number.
class touching final : public step {
 public:
  touching(std::uint64_t number, std::vector<memory_access> all) : number_(number) {
    for (const memory_access& a : all) accesses_.push_back({{{}, a.begin, a.end - a.begin}, a.mode});
  }
  const request_info& info() const noexcept override { return troupe::detail::info_of<numbered>; }
  std::size_t blob_bytes() const noexcept override { return 0; }
  void encode(std::byte* payload, blob_cursor) const noexcept override { std::memcpy(payload, &number_, 8); }
  std::string describe() const override { return "touching"; }
  result<std::shared_ptr<const step>> rebound(const device&, const rebinding&) const override {
    return std::shared_ptr<const step>();
  }

 private:
  std::uint64_t number_;
};

class a_capture : public testing::Test {
 protected:
  static constexpr access_mode r = access_mode::read, w = access_mode::write, rw = access_mode::read_write;

  tree_node request(std::vector<memory_access> all, kind how = kind::plain) {
    tree_node n{.kind = node_kind::request, .number = next_++};
    n.what = std::make_shared<touching>(n.number, std::move(all));
    kinds_.resize(next_);
    kinds_[n.number] = how;
    return n;
  }
  tree_node with_body(node_kind kind, tree_body body, tree_body otherwise = {}) {
    tree_node n{.kind = kind, .number = next_++, .label = "inner"};
    if (kind != node_kind::child) n.what = std::make_shared<touching>(0, std::vector<memory_access>{{900, 904, r}});
    n.body = std::move(body);
    n.otherwise = std::move(otherwise);
    kinds_.resize(next_);
    return n;
  }
  result<void> record(const tree_body& all, std::uint32_t branches = 4) {
    const recipe_writer writer(all, 1, branches);
    bytes_.assign((writer.bytes() + 15) / 16, {});
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    writer.write(reinterpret_cast<std::byte*>(bytes_.data()), address);
    const recipe_view recipe(address);
    EXPECT_TRUE(recipe.sound());
    static troupe_engine_operation operation{};
    operation.run = &run;
    const operation_list what(recipe.head().node_count, {&operation, this, 0});
    made_.emplace();
    decider decides(nullptr);
    call c{};
    const auto done = capture(recipe, what, decides, nullptr, c, *made_).run();
    EXPECT_EQ(stream.into, nullptr) << "it records still";
    library_is_broken_ = c.library_is_broken;
    return done;
  }
  bool library_is_broken() const { return library_is_broken_; }
  fake_graph& top() { return *reinterpret_cast<fake_graph*>(made_->graph.get()); }
  static fake_node* find(fake_graph& g, const std::string& what) {
    for (fake_node& n : g.nodes)
      if (n.what == what) return &n;
    return nullptr;
  }
  static bool is_before(const fake_node* a, const fake_node* b) {
    for (const fake_node* n : b->before)
      if (n == a || is_before(a, n)) return true;
    return false;
  }

 private:
  static bool run(void* self, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
    std::uint64_t number;
    std::memcpy(&number, payload, 8);
    EXPECT_NE(c->recording, nullptr);
    EXPECT_NE(c->reply, nullptr);
    const kind how = static_cast<a_capture*>(self)->kinds_[number];
    if (how == kind::needs_scratch) {
      EXPECT_NE(c->recording->scratch(c->recording->state, 100, failure), nullptr);
      EXPECT_NE(c->recording->scratch(c->recording->state, 1000, failure), nullptr);
    }
    if (how == kind::fails) {
      troupe::detail::fill(failure, reaction::caller_bug, 7, "test", "it fails");
      return false;
    }
    stream.invalid = how >= kind::cannot_be_recorded;
    if (how > kind::cannot_be_recorded) {
      const CUresult what =
          how == kind::loses_the_context ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      troupe::detail::fill(failure, reaction::context_lost, what, "test", "the stream is broken");
      failure->restart_library = 1;
      return false;
    }
    if (how == kind::in_two_steps) stream.enqueue("before " + std::to_string(number));
    stream.enqueue(std::to_string(number));
    return true;
  }
  struct alignas(16) sixteen {
    std::byte all[16];
  };
  std::uint32_t next_ = 0;
  std::vector<kind> kinds_;
  std::vector<sixteen> bytes_;
  std::optional<captured_graph> made_;
  bool library_is_broken_ = false;
};

TEST_F(a_capture, orders_what_conflicts_bounds_what_runs_at_the_same_time_and_no_two_share_scratch) {
  std::uint64_t seed = 777;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 100; ++round) {
    tree_body all;
    std::vector<std::vector<memory_access>> touched;
    std::vector<kind> kinds;
    const std::uint32_t branches = 1 + static_cast<std::uint32_t>(random(4));
    const std::uint32_t first = static_cast<std::uint32_t>(round) * 10;
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t begin = random(60);
      touched.push_back({{begin, begin + 1 + random(6), static_cast<access_mode>(random(3))}});
      kinds.push_back(static_cast<kind>(random(3)));
      all.push_back(request(touched.back(), kinds.back()));
    }
    ASSERT_TRUE(record(all, branches));
    std::vector<fake_node*> at;
    for (std::uint32_t i = 0; i < 10; ++i) at.push_back(find(top(), std::to_string(first + i)));
    std::vector<unsigned> unordered(10);  // a bit for each that neither comes before nor after
    for (std::size_t i = 0; i < 10; ++i)
      for (std::size_t k = 0; k < i; ++k) {
        const memory_access &a = touched[k][0], &b = touched[i][0];
        const bool conflict = (a.mode != r || b.mode != r) && a.begin < b.end && b.begin < a.end;
        const bool scratch = kinds[i] == kind::needs_scratch && kinds[k] == kind::needs_scratch;
        const bool ordered = is_before(at[k], at[i]);
        if (conflict || scratch) {
          EXPECT_TRUE(ordered) << "round " << round << ": " << k << " and " << i;
        }
        if (!ordered) unordered[i] |= 1u << k, unordered[k] |= 1u << i;
      }
    for (unsigned set = 0; set < 1024; ++set) {
      bool all_at_once = static_cast<std::uint32_t>(std::popcount(set)) > branches;
      for (unsigned i = 0; i < 10 && all_at_once; ++i)
        if ((set >> i & 1) != 0) all_at_once = ((set & ~(1u << i)) & ~unordered[i]) == 0;
      ASSERT_FALSE(all_at_once) << "round " << round << ": " << set << " with " << branches << " branches";
    }
  }
}

TEST_F(a_capture, has_no_more_branches_than_nodes) {
  ASSERT_TRUE(record({request({{0, 10, w}}), request({{20, 30, w}}), request({{40, 50, w}})}, UINT32_MAX));
  for (const fake_node& n : top().nodes) EXPECT_TRUE(n.before.empty()) << n.what;
}

TEST_F(a_capture, puts_the_nodes_of_a_child_between_what_comes_before_and_after_it) {
  ASSERT_TRUE(
      record({request({{0, 10, w}}), with_body(node_kind::child, {request({{0, 4, rw}}), request({{20, 30, w}})}),
              request({{0, 30, r}})}));
  // In the order of recording the numbers are 0; 1 and 2 inside of 3; 4. Arguments may be made in any order.
  std::vector<fake_node*> at;
  for (fake_node& n : top().nodes) at.push_back(&n);
  ASSERT_EQ(at.size(), 4u);
  for (const std::size_t inside : {1u, 2u}) {
    EXPECT_TRUE(is_before(at[0], at[inside]));
    EXPECT_TRUE(is_before(at[inside], at[3]));
  }
}

TEST_F(a_capture, decides_before_a_condition_and_again_at_the_end_of_a_loop) {
  kernels_loaded = 0;
  tree_body all, then, otherwise, loop;
  all.push_back(request({{900, 904, w}}));  // the flag
  then.push_back(request({{0, 10, w}}));
  otherwise.push_back(request({{0, 10, w}}));
  all.push_back(with_body(node_kind::if_, std::move(then), std::move(otherwise)));
  loop.push_back(request({{50, 60, w}}));
  loop.push_back(request({{70, 80, w}}));
  all.push_back(with_body(node_kind::while_, std::move(loop)));
  all.push_back(request({{50, 60, r}}));
  ASSERT_TRUE(record(all));
  EXPECT_EQ(kernels_loaded, 1);
  fake_node *const flag = find(top(), "0"), *const branch = find(top(), "if"), *const repeat = find(top(), "while");
  ASSERT_TRUE(flag && branch && repeat);
  for (fake_node* n : {branch, repeat}) {
    ASSERT_EQ(n->before.size(), 1u);
    EXPECT_EQ(n->before[0]->what, "decide");
    EXPECT_TRUE(is_before(flag, n->before[0]));
  }
  ASSERT_EQ(branch->bodies.size(), 2u);
  EXPECT_EQ(branch->bodies[0]->nodes.size(), 1u);
  EXPECT_EQ(branch->bodies[0]->nodes[0].what, "1");
  EXPECT_EQ(branch->bodies[1]->nodes[0].what, "2");
  ASSERT_EQ(repeat->bodies.size(), 1u);
  auto& inside = repeat->bodies[0]->nodes;
  ASSERT_EQ(inside.size(), 3u);
  EXPECT_EQ(inside[2].what, "decide");
  EXPECT_TRUE(is_before(&inside[0], &inside[2]));
  EXPECT_TRUE(is_before(&inside[1], &inside[2]));
  EXPECT_TRUE(is_before(repeat, find(top(), "7")));
}

TEST_F(a_capture, that_fails_names_the_node) {
  const auto failed = record({request({{0, 1, w}}, kind::fails)});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text(), "node 0 (testing.numbered): it fails");
  EXPECT_EQ(failed.error().code(), 7);
  EXPECT_EQ(failed.error().reaction(), reaction::caller_bug);
  const auto invalid = record({with_body(node_kind::if_, {request({{0, 1, w}}, kind::cannot_be_recorded)})});
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().reaction(), reaction::unsupported);
  EXPECT_EQ(invalid.error().text().find("node 1 (testing.numbered): it does something that cannot be part of a graph"),
            0u)
      << invalid.error().text();
  EXPECT_TRUE(record({request({{0, 1, w}})})) << "nothing of that stays";
}

TEST_F(a_capture, that_is_spoiled_is_unsupported_whatever_the_engine_makes_of_it) {
  const auto spoiled = record({request({{0, 1, w}}, kind::fails_while_invalid)});
  ASSERT_FALSE(spoiled);
  EXPECT_EQ(spoiled.error().reaction(), reaction::unsupported);
  EXPECT_EQ(spoiled.error().text().find("node 0 (testing.numbered): it does something that cannot be part of a graph"),
            0u)
      << spoiled.error().text();
  EXPECT_FALSE(library_is_broken());
  const auto lost = record({request({{0, 1, w}}, kind::loses_the_context)});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().reaction(), reaction::context_lost);
  EXPECT_EQ(lost.error().text(), "node 1 (testing.numbered): the stream is broken");
}

TEST(memory_of_a_recording, is_used_again_by_the_next_operation_and_by_nobody_at_the_same_time) {
  recorded_memory memory;
  recorded_memory::scratch& s = memory.add_scratch();
  std::vector<std::pair<char*, std::uint64_t>> taken;
  for (int round = 0; round < 3; ++round) {
    s.begin();
    std::vector<std::pair<char*, std::uint64_t>> now;
    for (const std::uint64_t bytes : {1000ull, 300ull, 100'000ull, 1ull, 5000ull}) {
      const auto got = s.take(bytes);
      ASSERT_TRUE(got);
      auto* const at = static_cast<char*>(*got);
      std::memset(at, 1, bytes);
      for (const auto& [other, size] : now) EXPECT_TRUE(at + bytes <= other || other + size <= at);
      now.emplace_back(at, bytes);
    }
    if (round > 0) {
      EXPECT_EQ(now, taken) << "the same again";
    }
    taken = std::move(now);
  }
  char* last = nullptr;
  for (int i = 0; i < 10000; ++i) {
    const auto got = memory.constants(24);
    ASSERT_TRUE(got);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*got) % 16, 0u);
    std::memset(*got, 2, 24);
    EXPECT_NE(*got, last);
    last = static_cast<char*>(*got);
  }
}

}  // namespace
}  // namespace troupe::graph
