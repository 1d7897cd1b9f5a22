// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What a graph holds while it is changed and launched.

#include <gtest/gtest.h>

#include <troupe/graph/cuda/executable.hpp>
#include <troupe/graph/cuda/testing/recorded_steps.hpp>

namespace troupe::graph {
namespace {

class an_executable_graph : public recorded_steps {
 protected:
  an_executable_graph() {
    driver.reset();
    driver.hold_back();
  }
  ~an_executable_graph() override { driver.go_on(); }
  // A request that works in scratch, and a condition with one that does.
  result<void> change(bool may_update = true) {
    tree_body then, all;
    then.push_back(request({{0, 10, w}}, kind::needs_scratch));
    all.push_back(request({{0, 10, w}}, kind::needs_scratch));
    all.push_back(with_body(node_kind::if_, std::move(then)));
    const recipe_view recipe = recipe_of(all);
    const operation_list what = operations_of(recipe);
    scratch_.clear();
    call c{};
    std::vector<left_over> gone;
    return graph_.change(recipe, what, decides_, nullptr, c, may_update, gone);
  }
  result<void> launch() { return graph_.launch(reinterpret_cast<CUstream>(1)); }

  decider decides_{nullptr};
  executable graph_;
};

TEST_F(an_executable_graph, that_is_changed_works_in_the_same_scratch_however_many_launches_are_under_way) {
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

TEST_F(an_executable_graph, keeps_constants_for_what_is_under_way_and_uses_them_again_when_it_is_done) {
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

TEST_F(an_executable_graph, lets_scratch_go_that_a_change_has_no_use_for_when_what_is_under_way_is_done) {
  ASSERT_TRUE(change());
  ASSERT_TRUE(launch());
  const std::size_t pieces = driver.device_pieces();
  for (std::size_t i = 1; i <= 10; ++i) {
    scratch_bytes_ = 1000 << i;
    ASSERT_TRUE(change());
    ASSERT_TRUE(launch());
    EXPECT_EQ(driver.device_pieces(), pieces + 2 * i) << "launches under way may use all of it";
  }
  driver.go_on();
  ASSERT_TRUE(change());
  EXPECT_EQ(driver.device_pieces(), pieces);
}

TEST_F(an_executable_graph, that_cannot_be_updated_is_made_anew_with_scratch_of_its_own) {
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
  EXPECT_EQ(driver.device_pieces(), 2 * pieces) << "of the first nothing is left";
}

TEST_F(an_executable_graph, is_not_touched_when_nobody_could_tell_when_its_launches_are_done) {
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
