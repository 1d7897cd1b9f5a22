// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/library_access.hpp>
#include <troupe/graph/graph.hpp>

#include <tests/contract/contract.hpp>
#include <tests/contract/kernels/kernels.hpp>

namespace troupe::whole {
namespace {

struct launch {
  using request = graph::launch;
  // 300 elements of 7, of which a graph sets 100 to 0, 1, 2, …
  static request good(const device& gpu) {
    const auto x = uploaded(gpu, counting(100)), y = gpu.alloc<float>(300);
    graph::recorder rec(gpu);
    rec.fill(y, 7);
    rec.copy(y.slice(100, 100), x);
    return {.graph = rec.finish()};
  }
  static request bad(const device&) { return {.graph = graph::graph()}; }
  static constexpr const char* bad_field = "graph is empty";
  static void expect_right(const device& gpu, const request& r, const result<void>&) {
    for (const auto& use : r.graph.uses()) {
      if (use.mode == access_mode::read) continue;
      EXPECT_EQ(use.mode, access_mode::write);
      const auto y = gpu.download(buffer<float>(use.where)).get();
      ASSERT_OK(y);
      ASSERT_EQ(y->size(), 300u);
      for (std::size_t i = 0; i < 300; ++i)
        EXPECT_EQ((*y)[i], i < 100 || i >= 200 ? 7 : static_cast<float>(i - 100)) << "element " << i;
    }
  }
};

struct unload {
  using request = graph::unload;
  static request good(const device& gpu) { return {.root = out<std::byte>(library_access(gpu).alloc_sent(64))}; }
  static request bad(const device& gpu) {
    return {.root = buffer<std::byte>(library_access(gpu).alloc_sent(64)).slice(0, 8)};
  }
  static constexpr const char* bad_field = "root holds 8";
  static void expect_right(const device&, const request&, const result<void>&) {}
};

}  // namespace

using graph_requests = testing::Types<launch, unload>;
static_assert(covers<graph_requests, graph::all_requests>);
INSTANTIATE_TYPED_TEST_SUITE_P(graph, library_actor, graph_requests);

}  // namespace troupe::whole
