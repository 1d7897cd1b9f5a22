// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Neighbours in the mailbox that share a call of the library: who does, who does not, and that nobody can tell from the
// results. The engine answers each with how many shared its call.
#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

class coalescing : public testing::TestWithParam<isolation> {
 protected:
  device open(device_options o = {}) {
    o.isolation = GetParam();
    return rt.open_device(with_test_engines(std::move(o)));
  }
  static buffer<float> zero(const device& gpu) { return gpu.alloc<float>(1, {.zeroed = true}); }
  static std::vector<std::uint32_t> sizes(std::vector<pending<std::uint32_t>>& answers) {
    std::vector<std::uint32_t> out;
    for (auto& a : answers) out.push_back(a.get().value());
    return out;
  }
  static float value(const device& gpu, const buffer<float>& b) { return gpu.download(b).get().value()[0]; }
  runtime rt;
};
INSTANTIATE_TEST_SUITE_P(each, coalescing, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

using numbers = std::vector<std::uint32_t>;

TEST_P(coalescing, requests_of_one_kind_that_wait_side_by_side_share_a_call) {
  const device gpu = open();
  std::vector<buffer<float>> x;
  for (int i = 0; i < 10; ++i) x.push_back(zero(gpu));
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);  // runs on the pump: all the others are in the mailbox when it goes on
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = 1, .by = float(i)}));
  b.lift();
  EXPECT_EQ(sizes(answers), numbers(10, 10));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(value(gpu, x[i]), float(i));
}

TEST_P(coalescing, lanes_that_share_work_do_not_part_them) {
  const device gpu = open({.lanes = lane_policy::pooled});
  std::vector<buffer<float>> x;
  for (int i = 0; i < 10; ++i) x.push_back(zero(gpu));
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = 1}));
  b.lift();
  EXPECT_EQ(sizes(answers), numbers(10, 10));
}

TEST_P(coalescing, nothing_waits_for_a_long_request_that_came_later) {
  const device gpu = open();
  const auto x = zero(gpu);
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto early = gpu.ask(together{.x = x, .kind = 1});
  blockade late(gpu);
  b.lift();
  const auto size = early.get_for(20s);
  late.lift();
  ASSERT_TRUE(size);
  EXPECT_EQ(size->value(), 1u);
}

TEST_P(coalescing, one_that_finds_no_neighbour_runs_at_once_by_itself) {
  const device gpu = open();
  const auto x = zero(gpu);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpu.ask(together{.x = x, .kind = 1}).get().value(), 1u);
  EXPECT_EQ(value(gpu, x), 3);
}

TEST_P(coalescing, a_request_that_needs_anothers_result_does_not_share_its_call) {
  const device gpu = open();
  const auto x = zero(gpu), y = zero(gpu);
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  for (const auto& t : {x, y, x, y, y}) answers.push_back(gpu.ask(together{.x = t, .kind = 1}));
  b.lift();
  EXPECT_EQ(sizes(answers), (numbers{2, 2, 2, 2, 1}));
  EXPECT_EQ(value(gpu, x), 2);
  EXPECT_EQ(value(gpu, y), 3);
}

TEST_P(coalescing, kinds_do_not_mix_and_a_thread_that_says_alone_is) {
  const device gpu = open();
  std::vector<buffer<float>> x;
  for (int i = 0; i < 7; ++i) x.push_back(zero(gpu));
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  const std::uint64_t kinds[] = {1, 1, 2, 2, 0, 0};
  for (int i = 0; i < 6; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = kinds[i]}));
  answers.push_back(gpu.ask(together{.x = x[6], .kind = 2}, {.coalesce = false}));
  b.lift();
  EXPECT_EQ(sizes(answers), (numbers{2, 2, 2, 2, 1, 1, 1}));
}

TEST_P(coalescing, a_device_can_do_without) {
  const device gpu = open({.coalesce = false});
  std::vector<buffer<float>> x;
  for (int i = 0; i < 5; ++i) x.push_back(zero(gpu));
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = 1}));
  b.lift();
  EXPECT_EQ(sizes(answers), numbers(5, 1));
}

TEST_P(coalescing, what_the_engine_will_not_do_together_is_done_one_by_one) {
  const device gpu = open();
  std::vector<buffer<float>> x;
  for (int i = 0; i < 4; ++i) x.push_back(zero(gpu));
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  for (int i = 0; i < 4; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = 13}));
  b.lift();
  EXPECT_EQ(sizes(answers), numbers(4, 1));
  for (const auto& t : x) EXPECT_EQ(value(gpu, t), 1);
}

TEST_P(coalescing, one_that_was_cancelled_and_one_that_misses_its_input_are_left_out_of_the_call) {
  const device gpu = open();
  std::vector<buffer<float>> x;
  for (int i = 0; i < 6; ++i) x.push_back(zero(gpu));
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  gpu.tell(spoil{.target = x[1], .n = 1, .text = "spoiled"});
  for (int i = 0; i < 6; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = 1}));
  answers[4].cancel();
  b.lift();
  EXPECT_EQ(answers[0].get().value(), 1u) << "the one that cannot run ended the group before it";
  EXPECT_TRUE(is_error(error_of(std::move(answers[1])), reaction::unsupported, {"spoiled", "testing.together"}));
  EXPECT_EQ(answers[2].get().value(), 3u);
  EXPECT_EQ(answers[3].get().value(), 3u);
  EXPECT_TRUE(is_error(error_of(std::move(answers[4])), reaction::retry_later, {"cancelled"}));
  EXPECT_EQ(answers[5].get().value(), 3u);
}

// Uploads to another lane stand between them, each waited for by its neighbour only.
TEST_P(coalescing, work_on_other_lanes_in_between_does_not_part_them_and_is_waited_for) {
  const device gpu = open({.wait = wait_policy::efficient});
  constexpr int n = 40;
  std::vector<buffer<float>> x;
  for (int i = 0; i < n; ++i) x.push_back(zero(gpu));
  ASSERT_OK(gpu.sync().get());
  for (int round = 0; round < 20; ++round) {
    blockade b(gpu);
    ASSERT_TRUE(b.entered());
    std::vector<pending<std::uint32_t>> answers;
    std::vector<pending<std::vector<float>>> results;
    for (int i = 0; i < n; ++i) {
      const float start = static_cast<float>(100 * round + i);
      gpu.upload(x[i], std::span(&start, 1));
      answers.push_back(gpu.ask(together{.x = x[i], .kind = 1}));
      if (i % 3 == 0 && round % 2 == 1) results.push_back(gpu.download(x[i]));
    }
    b.lift();
    int shared = 0;
    for (auto& a : answers) {
      const auto size = a.get();
      ASSERT_OK(size);
      shared += *size > 1;
    }
    if (round % 2 == 0) {
      EXPECT_GE(shared, n / 2) << "there was nothing that needed their results";
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      ASSERT_EQ(results[i].get().value()[0], static_cast<float>(100 * round + 3 * static_cast<int>(i) + 1));
    for (int i = 0; i < n; ++i) ASSERT_EQ(value(gpu, x[i]), static_cast<float>(100 * round + i + 1));
  }
}

TEST_P(coalescing, more_than_fit_one_call_are_spread_over_several) {
  const device gpu = open();
  constexpr int n = 700;
  const auto all = gpu.alloc<float>(n, {.zeroed = true});
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  for (int i = 0; i < n; ++i) answers.push_back(gpu.ask(together{.x = all.slice(i, 1), .kind = 1}));
  b.lift();
  std::uint64_t shared = 0;
  for (const std::uint32_t size : sizes(answers)) shared += size > 1;
  EXPECT_GE(shared, n - 10u);
  EXPECT_EQ(gpu.download(all).get().value(), std::vector<float>(n, 1.f));
}

}  // namespace
}  // namespace troupe::whole
