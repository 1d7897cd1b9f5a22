// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Graphs whose memory is stale, and graphs that cannot be launched.
#include <cstdio>
#include "graph_programs.hpp"

namespace troupe::whole {
namespace {

class stale_graphs : public testing::Test {
 protected:
  std::vector<float> content(const buffer<float>& b) const {
    const auto got = gpu_.download(b).get();
    EXPECT_OK(got);
    return got ? *got : std::vector<float>();
  }
  void launch(const graph::graph& g) const { EXPECT_OK(gpu_.ask(graph::launch{.graph = g}).get()); }
  // Makes all of `b` stale: sends a request that would write it, and is refused.
  void spoil(const buffer<float>& b) const {
    gpu_.tell(memory::fill{.target = b.as<std::byte>(), .bytes = -1, .pattern = {}, .pattern_bytes = 1});
  }

  runtime runtime_;
  device gpu_ = runtime_.open_device(with_test_engines());
  graph_kernels k_{gpu_};
};

TEST_F(stale_graphs, leave_buffers_stale_that_a_body_may_not_have_replaced) {
  const auto x = gpu_.alloc<float>(64);
  const auto f = uploaded<std::uint32_t>(gpu_, {1});
  graph::recorder rec(gpu_);
  rec.if_(f, [&](graph::recorder& then) { then.fill(x, 1); });
  const graph::graph g = rec.finish();
  spoil(x);
  launch(g);
  EXPECT_TRUE(is_error(error_of(gpu_.download(x)), reaction::caller_bug, {"memory.fill"}));
  gpu_.fill(x, 0);
  launch(g);
  EXPECT_EQ(content(x), std::vector<float>(64, 1));
  gpu_.fill(f, 0);
  gpu_.fill(x, 3);
  launch(g);
  EXPECT_EQ(content(x), std::vector<float>(64, 3));
}

TEST_F(stale_graphs, name_the_node_and_the_buffer_of_a_stale_read) {
  const auto x = uploaded(gpu_, counting(64, 1)), y = gpu_.alloc<float>(64);
  const auto f = uploaded<std::uint32_t>(gpu_, {2});
  graph::recorder rec(gpu_);
  rec.fill(y, 0);
  rec.while_(f, [&](graph::recorder& body) {
    body.copy(y, x, "y = x");
    body.add(k_.down(f, y));
  });
  const graph::graph g = rec.finish();
  spoil(x);
  char where[32];
  std::snprintf(where, sizeof where, "u8[256]@%llx", static_cast<unsigned long long>(x.memory().address));
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = g})), reaction::caller_bug,
                       {"graph.launch: node 2 \"y = x\" (memory.copy) reads source, ", where,
                        "which is stale since: memory.fill", "write all of it before the launch"}));
  gpu_.upload(x, counting(64));
  gpu_.fill(f, 2);
  gpu_.fill(y, 0);
  launch(g);
  EXPECT_EQ(content(y)[0], 1);
}

TEST_F(stale_graphs, repeat_no_text_when_they_are_launched_again_with_the_data_that_they_left_stale) {
  const auto x = uploaded(gpu_, counting(64, 1)), y = gpu_.alloc<float>(64);
  graph::recorder rec(gpu_);
  rec.copy(y, x);
  rec.copy(x, y);
  const graph::graph g = rec.finish();
  spoil(x);
  const auto text = [&] { return error_of(gpu_.ask(graph::launch{.graph = g})).text(); };
  const std::string first = text();
  EXPECT_NE(first.find("which is stale since: memory.fill"), std::string::npos) << first;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text(), first);
}

TEST_F(stale_graphs, are_refused_with_the_label_of_a_refused_node) {
  const auto x = gpu_.alloc<float>(64);
  graph::recorder rec(gpu_, {.name = "two steps"});
  rec.fill(x, 1);
  rec.add(memory::fill{.target = x.as<std::byte>(), .bytes = -1, .pattern = {}, .pattern_bytes = 1}, "the wrong one");
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = rec.finish()})), reaction::caller_bug,
                       {"memory.fill: bytes is -1", "(node 1 \"the wrong one\" of graph \"two steps\")"}));
}

}  // namespace
}  // namespace troupe::whole
