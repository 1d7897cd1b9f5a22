// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/kernel/engine/cuda/launch_graphs.hpp>
#include <vector>

namespace troupe::kernel {
namespace {

using cuda::testing::driver;

class repeated_launches : public testing::Test {
 protected:
  repeated_launches() {
    driver().reset();
    driver().computes = true;
    driver().kernels = {{"note", sizeof(int), [this](auto, auto, const void* x) { noted_.push_back(value(x)); }},
                        {"double", sizeof(int), [this](auto, auto, const void* x) { noted_.push_back(2 * value(x)); }}};
  }
  ~repeated_launches() override { driver().kernels.clear(); }
  static int value(const void* x) { return *static_cast<const int*>(x); }
  static launch_shape of(std::size_t kernel, unsigned blocks = 1) {
    return {.program = 1,
            .function = reinterpret_cast<CUfunction>(&driver().kernels[kernel]),
            .grid = {blocks, 1, 1},
            .block = {32, 1, 1}};
  }
  static std::vector<launch_shape> notes(std::size_t count, unsigned blocks = 1) {
    return std::vector<launch_shape>(count, of(0, blocks));
  }
  // Runs the launches with arguments that count up from `first`. Returns the numbers that the kernels recorded; empty
  // if there is no graph.
  std::vector<int> run(const std::vector<launch_shape>& all, int first = 0) {
    noted_.clear();
    launch_graphs::graph* const graph = graphs_.find(all);
    if (graph == nullptr) return {};
    for (std::size_t i = 0; i < all.size(); ++i) {
      int argument = first + static_cast<int>(i);
      void* arguments[] = {&argument};
      EXPECT_EQ(graph->set(i, arguments), CUDA_SUCCESS);
    }
    EXPECT_EQ(graph->launch(nullptr), CUDA_SUCCESS);
    return noted_;
  }
  int times_until_found(const std::vector<launch_shape>& all) {
    for (int i = 1; i < 100; ++i)
      if (graphs_.find(all) != nullptr) return i;
    return 100;
  }
  std::vector<int> noted_;
  launch_graphs graphs_;
};

TEST_F(repeated_launches, become_a_graph_after_fewer_repetitions_if_they_are_longer) {
  EXPECT_EQ(times_until_found(notes(32)), 2);
  EXPECT_EQ(times_until_found(notes(16)), 3);
  EXPECT_EQ(times_until_found(notes(8)), 4);
  EXPECT_EQ(times_until_found(notes(2)), 10);
}

TEST_F(repeated_launches, run_in_order_with_other_arguments_each_time) {
  const std::vector<launch_shape> all{of(0), of(1), of(0), of(1), of(0), of(0), of(0), of(0)};
  EXPECT_EQ(times_until_found(all), 4);
  for (int first = 0; first < 50; first += 10)
    EXPECT_EQ(run(all, first), (std::vector{first, 2 * (first + 1), first + 2, 2 * (first + 3), first + 4, first + 5,
                                            first + 6, first + 7}));
  EXPECT_EQ(driver().count("cuGraphInstantiateWithParams"), launch_graphs::copies);
}

TEST_F(repeated_launches, keep_their_arguments_until_they_have_run) {
  times_until_found(notes(32));
  driver().hold_back();
  for (int i = 0; i < 20; ++i) run(notes(32), 100 * i);
  EXPECT_TRUE(noted_.empty());
  driver().go_on();
  ASSERT_EQ(noted_.size(), 20 * 32u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(noted_[static_cast<std::size_t>(i) * 32], 100 * i);
}

TEST_F(repeated_launches, do_not_use_a_graph_made_for_another_grid_block_program_or_shared_memory) {
  times_until_found(notes(32));
  EXPECT_EQ(graphs_.find(notes(32, 2)), nullptr) << "another grid";
  std::vector<launch_shape> other = notes(32);
  other[7].block[2] = 2;
  EXPECT_EQ(graphs_.find(other), nullptr);
  other = notes(32);
  other[31].shared_bytes = 16;
  EXPECT_EQ(graphs_.find(other), nullptr);
  other = notes(32);
  other[0].program = 99;
  EXPECT_EQ(graphs_.find(other), nullptr)
      << "the driver may reuse a function's address for a kernel that is loaded later";
  EXPECT_NE(graphs_.find(notes(32)), nullptr);
}

TEST_F(repeated_launches, are_dropped_from_the_cache_only_if_they_were_not_used_recently) {
  for (unsigned blocks = 1; blocks <= launch_graphs::most_kept; ++blocks)
    EXPECT_EQ(times_until_found(notes(32, blocks)), 2) << blocks;
  EXPECT_EQ(graphs_.kept(), launch_graphs::most_kept);
  EXPECT_EQ(times_until_found(notes(32, 1000)), 100) << "all were used just now";
  for (int again = 0; again < 5; ++again)
    for (unsigned blocks = 2; blocks <= launch_graphs::most_kept; ++blocks)
      EXPECT_NE(graphs_.find(notes(32, blocks)), nullptr);
  EXPECT_NE(graphs_.find(notes(32, 1000)), nullptr);
  EXPECT_EQ(graphs_.kept(), launch_graphs::most_kept);
  EXPECT_EQ(graphs_.find(notes(32, 1)), nullptr) << "it was replaced";
}

TEST_F(repeated_launches, do_not_try_a_graph_again_that_the_driver_has_refused) {
  driver().fail("cuGraphInstantiateWithParams", CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(times_until_found(notes(32)), 100);
  EXPECT_EQ(driver().count("cuGraphInstantiateWithParams"), 1u);
  EXPECT_EQ(times_until_found(notes(32, 70000)), 100) << "the grid is too large for a launch";
}

TEST_F(repeated_launches, use_fewer_copies_of_a_graph_if_memory_is_short) {
  times_until_found(notes(32));
  driver().fail("cuGraphInstantiateWithParams", CUDA_ERROR_OUT_OF_MEMORY);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run(notes(32), i).front(), i);
  EXPECT_EQ(driver().count("cuGraphInstantiateWithParams"), 2u);
}

}  // namespace
}  // namespace troupe::kernel
