// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/requests/computation.hpp>
#include <troupe/dnn/steps/plan_cache.hpp>
#include <troupe/dnn/testing/encoding.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

struct counted_plan : step_list {
  int number = 1;
};

struct step_plan_cache : ::testing::Test {
  step_plan_cache() {
    const std::uint16_t x = e.given({2}, {1, 2}), y = e.at(&written, dtype::f64, dense({2}), access_mode::write);
    e.node(op::write, {x}, {y});
  }
  // Finds the plan and returns its number, or 0 on failure. A plan with a number below `outdated_before` is outdated.
  int find(int outdated_before = 0, std::uint64_t bytes = 0) {
    const computation r{.graph = graph(e.encode(), e.bytes()), .options = {.workspace = workspace}};
    const auto plan = plans.find_or_make(
        r, prepare::request_name,
        [&](const graph_kind&, const counted_plan* before) -> result<counted_plan> {
          counted_plan p;
          p.number = before == nullptr ? 1 : before->number + 1;
          p.bytes = bytes;
          return p;
        },
        [&](const counted_plan& p) { return p.number < outdated_before; });
    if (!plan) refusal = plan.error().text();
    return plan ? (*plan)->number : 0;
  }
  encoding e;
  double written[2] = {};
  std::uint64_t workspace = 100;
  std::string refusal;
  plan_cache<counted_plan> plans{"an engine"};
};

TEST_F(step_plan_cache, an_outdated_plan_is_replaced_once) {
  EXPECT_EQ(find(), 1);
  EXPECT_EQ(find(), 1);
  EXPECT_EQ(find(2), 2);
  EXPECT_EQ(find(2), 2) << "it is replaced once";
  EXPECT_EQ(find(), 2);
  EXPECT_EQ(find(4), 3) << "one attempt per request";
}

TEST_F(step_plan_cache, an_outdated_plan_that_needs_too_much_workspace_is_replaced_instead_of_failing_the_request) {
  EXPECT_EQ(find(0, 101), 0);
  EXPECT_EQ(refusal.find("dnn.prepare: workspace is 100 bytes"), 0u) << refusal;
  EXPECT_EQ(find(0, 50), 0);
  EXPECT_EQ(find(2, 50), 2);
}

TEST_F(step_plan_cache, a_kind_has_what_is_in_the_key_of_a_plan_and_nothing_else) {
  const auto key_of = [](const computation& r, std::uint64_t alignment) {
    std::string out;
    write_key(out, r, alignment);
    return out;
  };
  computation r{.graph = graph(e.encode(), e.bytes()), .options = {.choice = choice::measured, .workspace = 100}};
  for (const std::uint64_t address : {16u, 32u, 40u}) {
    e.memory.back().address = address;
    r.graph = graph(e.encode(), e.bytes());
    for (const std::uint64_t alignment : {1u, 16u}) {
      const graph_kind kind(r, alignment);
      EXPECT_EQ(kind.options(), r.options);
      const std::span<const encoded_memory> memory = kind.graph().memory();
      ASSERT_EQ(memory.size(), r.graph.encoded().memory().size());
      for (std::size_t i = 0; i < memory.size(); ++i) {
        EXPECT_EQ(memory[i].address / 4096, i + 1);
        EXPECT_EQ(is_aligned(memory[i], alignment), is_aligned(r.graph.encoded().memory()[i], alignment));
      }
      const auto a = kind.graph().structure(), b = r.graph.encoded().structure();
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
    }
  }
  const std::string whole = key_of(r, 1), aligned = key_of(r, 16);
  e.memory.back().address = 32;
  r.graph = graph(e.encode(), e.bytes());
  EXPECT_EQ(key_of(r, 1), whole);
  EXPECT_NE(key_of(r, 16), aligned);
  r.options.precision = precision::tf32;
  EXPECT_NE(key_of(r, 1), whole) << "each option is in the key";
}

}  // namespace
}  // namespace troupe::dnn
