// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which resources a graph keeps while it is changed and launched.

#include <gtest/gtest.h>

#include <troupe/graph/cuda/executable.hpp>
#include <troupe/graph/cuda/testing/recorded_steps.hpp>

namespace troupe::graph {
namespace {

class executable_graph : public recorded_steps {
 protected:
  executable_graph() {
    driver.reset();
    driver.hold_back();
  }
  ~executable_graph() override { driver.go_on(); }
  // Changes the graph to a request that uses scratch, and a condition whose body uses scratch.
  result<void> change(bool may_update = true) {
    tree_body then, all;
    then.push_back(request({{0, 10, w}}, kind::needs_scratch));
    all.push_back(request({{0, 10, w}}, kind::needs_scratch));
    all.push_back(with_body(node_kind::if_, std::move(then)));
    const recipe_view recipe = recipe_of(all);
    const operation_list what = operations_of(recipe);
    scratch_.clear();
    call c{};
    std::vector<retired_parts> gone;
    return graph_.change(recipe, what, decides_, nullptr, c, may_update, gone);
  }
  result<void> launch() { return graph_.launch(reinterpret_cast<CUstream>(1)); }

  condition_kernel decides_{nullptr};
  executable graph_;
};

TEST_F(executable_graph, an_updated_graph_keeps_its_scratch_however_many_launches_are_in_flight) {
  ASSERT_TRUE(change());
  ASSERT_TRUE(launch());
  const std::vector<void*> first = scratch_;
  ASSERT_EQ(first.size(), 4u);
  EXPECT_NE(first[0], first[2]) << "the body of a condition has scratch of its own";
  const std::size_t pieces = driver.device_pieces();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(change());
    ASSERT_TRUE(launch());
    EXPECT_EQ(scratch_, first);
  }
  EXPECT_EQ(driver.device_pieces(), pieces);
  EXPECT_EQ(driver.count("cuGraphExecUpdate"), 100u);
  EXPECT_EQ(driver.count("cuGraphInstantiateWithParams"), 1u);
}

TEST_F(executable_graph, keeps_the_constants_of_launches_in_flight_and_reuses_them_afterwards) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(change());
    ASSERT_TRUE(launch());
  }
  EXPECT_EQ(driver.pinned_pieces(), 3u);
  driver.go_on();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(change());
    ASSERT_TRUE(launch());
  }
  EXPECT_EQ(driver.pinned_pieces(), 3u);
}

TEST_F(executable_graph, frees_scratch_that_is_no_longer_needed_after_the_launches_in_flight) {
  ASSERT_TRUE(change());
  ASSERT_TRUE(launch());
  const std::size_t pieces = driver.device_pieces();
  for (std::size_t i = 1; i <= 10; ++i) {
    scratch_bytes_ = 1000 << i;
    ASSERT_TRUE(change());
    ASSERT_TRUE(launch());
    EXPECT_EQ(driver.device_pieces(), pieces + 2 * i) << "launches in flight may use all of it";
  }
  driver.go_on();
  ASSERT_TRUE(change());
  EXPECT_EQ(driver.device_pieces(), pieces);
}

TEST_F(executable_graph, a_graph_that_cannot_be_updated_is_replaced_by_one_with_its_own_scratch) {
  ASSERT_TRUE(change());
  ASSERT_TRUE(launch());
  const std::vector<void*> first = scratch_;
  const std::size_t pieces = driver.device_pieces();
  driver.fail("cuGraphExecUpdate", CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  ASSERT_TRUE(change());
  EXPECT_EQ(driver.count("cuGraphInstantiateWithParams"), 2u);
  EXPECT_NE((std::vector<void*>{scratch_.end() - 4, scratch_.end()}), first);
  EXPECT_EQ(driver.device_pieces(), 2 * pieces);
  driver.go_on();
  ASSERT_TRUE(change(false));
  EXPECT_EQ(driver.count("cuGraphInstantiateWithParams"), 3u);
  EXPECT_EQ(driver.device_pieces(), 2 * pieces) << "all memory of the first graph has been freed";
}

TEST_F(executable_graph, is_not_changed_if_no_event_can_be_recorded_after_its_launches) {
  ASSERT_TRUE(change());
  ASSERT_TRUE(launch());
  const std::size_t pieces = driver.device_pieces(), pinned = driver.pinned_pieces();
  driver.fail("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
  const auto failed = change();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().text().find("cuEventCreate"), std::string::npos) << failed.error().text();
  EXPECT_EQ(driver.count("cuGraphExecUpdate"), 0u);
  EXPECT_EQ(driver.device_pieces(), pieces);
  EXPECT_EQ(driver.pinned_pieces(), pinned);
  driver.succeed("cuEventCreate");
  EXPECT_TRUE(change(false));
}

}  // namespace
}  // namespace troupe::graph
