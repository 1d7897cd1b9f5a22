// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests how recipes become graphs of the driver.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <optional>
#include <troupe/graph/cuda/capture.hpp>
#include <troupe/graph/cuda/testing/recorded_steps.hpp>

namespace troupe::graph {
namespace {

constexpr const char* decides = "troupe_graph_decide";

class graph_capture : public recorded_steps {
 protected:
  result<void> record(const tree_body& all, std::uint32_t branches = 4) {
    const recipe_view recipe = recipe_of(all, branches);
    const operation_list what = operations_of(recipe);
    made_.emplace();
    works_in_.begin();
    condition_kernel decides(nullptr);
    call c{};
    const auto done = capture(recipe, what, decides, nullptr, c, works_in_, *made_).run();
    EXPECT_EQ(driver.capture.into, nullptr) << "the stream is still being captured";
    EXPECT_EQ(driver.capture.mode, CU_STREAM_CAPTURE_MODE_RELAXED);
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
  static fake_node* step(fake_graph& g, std::uint64_t number) {
    return find(g, "step(" + std::to_string(number) + ")");
  }
  static bool is_before(const fake_node* a, const fake_node* b) {
    for (const fake_node* n : b->before)
      if (n == a || is_before(a, n)) return true;
    return false;
  }

 private:
  all_scratch works_in_;
  std::optional<captured_graph> made_;
  bool library_is_broken_ = false;
};

TEST_F(graph_capture, orders_conflicts_limits_branches_and_never_shares_scratch_between_them) {
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
    for (std::uint32_t i = 0; i < 10; ++i) at.push_back(step(top(), first + i));
    // for each node, a bit for every node that is ordered neither before nor after it
    std::vector<unsigned> unordered(10);
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

TEST_F(graph_capture, has_no_more_branches_than_nodes) {
  ASSERT_TRUE(record({request({{0, 10, w}}), request({{20, 30, w}}), request({{40, 50, w}})}, UINT32_MAX));
  for (const fake_node& n : top().nodes) EXPECT_TRUE(n.before.empty()) << n.what;
}

TEST_F(graph_capture, orders_the_nodes_of_a_child_between_its_neighbors) {
  ASSERT_TRUE(
      record({request({{0, 10, w}}), with_body(node_kind::child, {request({{0, 4, rw}}), request({{20, 30, w}})}),
              request({{0, 30, r}})}));
  // The nodes are numbered in the order of recording: 0; 1 and 2 inside 3; 4. The order in which arguments are
  // evaluated has no effect.
  std::vector<fake_node*> at;
  for (fake_node& n : top().nodes) at.push_back(&n);
  ASSERT_EQ(at.size(), 4u);
  for (const std::size_t inside : {1u, 2u}) {
    EXPECT_TRUE(is_before(at[0], at[inside]));
    EXPECT_TRUE(is_before(at[inside], at[3]));
  }
}

TEST_F(graph_capture, gives_a_child_as_many_branches_as_the_child_allows) {
  for (const std::uint32_t branches : {1u, 2u}) {
    tree_body inside, all;
    for (std::uint64_t i = 0; i < 4; ++i) inside.push_back(request({{i * 10, i * 10 + 5, w}}));
    all.push_back(with_body(node_kind::child, std::move(inside)));
    all.back().branches = branches;
    ASSERT_TRUE(record(all, 4));
    std::size_t first = 0;
    for (const fake_node& n : top().nodes) first += n.before.empty();
    EXPECT_EQ(first, branches);
  }
}

TEST_F(graph_capture, evaluates_the_flag_before_a_condition_and_at_the_end_of_a_loop) {
  driver.reset();
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
  EXPECT_EQ(driver.count("cuLibraryLoadData"), 1u);
  fake_node *const flag = step(top(), 0), *const branch = find(top(), "if"), *const repeat = find(top(), "while");
  ASSERT_TRUE(flag && branch && repeat);
  for (fake_node* n : {branch, repeat}) {
    ASSERT_EQ(n->before.size(), 1u);
    EXPECT_EQ(n->before[0]->what, decides);
    EXPECT_TRUE(is_before(flag, n->before[0]));
  }
  ASSERT_EQ(branch->bodies.size(), 2u);
  EXPECT_EQ(branch->bodies[0]->nodes.size(), 1u);
  EXPECT_EQ(branch->bodies[0]->nodes[0].what, "step(1)");
  EXPECT_EQ(branch->bodies[1]->nodes[0].what, "step(2)");
  ASSERT_EQ(repeat->bodies.size(), 1u);
  auto& inside = repeat->bodies[0]->nodes;
  ASSERT_EQ(inside.size(), 3u);
  EXPECT_EQ(inside[2].what, decides);
  EXPECT_TRUE(is_before(&inside[0], &inside[2]));
  EXPECT_TRUE(is_before(&inside[1], &inside[2]));
  EXPECT_TRUE(is_before(repeat, step(top(), 7)));
}

TEST_F(graph_capture, a_failed_capture_names_the_failed_node) {
  const auto failed = record({request({{0, 1, w}}, kind::fails)});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text(), "node 0 (testing.numbered): it fails");
  EXPECT_EQ(failed.error().code(), 7);
  EXPECT_EQ(failed.error().reaction(), reaction::caller_bug);
  const auto invalid = record({with_body(node_kind::if_, {request({{0, 1, w}}, kind::cannot_be_recorded)})});
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().reaction(), reaction::unsupported);
  EXPECT_EQ(
      invalid.error().text().find("node 1 (testing.numbered): its engine made a call that cannot be part of a graph"),
      0u)
      << invalid.error().text();
  EXPECT_TRUE(record({request({{0, 1, w}})})) << "the failed recording leaves nothing behind";
}

TEST_F(graph_capture, an_invalidated_capture_is_unsupported_whatever_the_engine_reports) {
  const auto spoiled = record({request({{0, 1, w}}, kind::fails_while_invalid)});
  ASSERT_FALSE(spoiled);
  EXPECT_EQ(spoiled.error().reaction(), reaction::unsupported);
  EXPECT_EQ(
      spoiled.error().text().find("node 0 (testing.numbered): its engine made a call that cannot be part of a graph"),
      0u)
      << spoiled.error().text();
  EXPECT_FALSE(library_is_broken());
  const auto lost = record({request({{0, 1, w}}, kind::loses_the_context)});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().reaction(), reaction::context_lost);
  EXPECT_EQ(lost.error().text(), "node 1 (testing.numbered): the stream is broken");
}

TEST(recording_memory, is_given_to_one_operation_at_a_time_and_reused_by_the_next_recording) {
  all_scratch all;
  recorded_scratch& s = all.next();
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
      EXPECT_EQ(now, taken) << "the next recording reuses the same memory";
    }
    taken = std::move(now);
  }
}

TEST(recorded_constants, are_aligned_and_have_memory_of_their_own) {
  recorded_constants constants;
  char* last = nullptr;
  for (int i = 0; i < 10000; ++i) {
    const auto got = constants.take(24);
    ASSERT_TRUE(got);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*got) % 16, 0u);
    std::memset(*got, 2, 24);
    EXPECT_NE(*got, last);
    last = static_cast<char*>(*got);
  }
}

}  // namespace
}  // namespace troupe::graph
