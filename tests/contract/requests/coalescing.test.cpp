// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which neighboring requests in the mailbox share a call of the library, and that results do not depend on it.
// The engine returns to each request how many shared its call.
#include <tests/contract/harness.hpp>

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
  static std::vector<buffer<float>> zeros(const device& gpu, int count) {
    std::vector<buffer<float>> out;
    for (int i = 0; i < count; ++i) out.push_back(zero(gpu));
    return out;
  }
  // Returns the sizes of the calls for the requests `ask(0)`, `ask(1)` …, which wait in the mailbox together.
  template <class Ask>
  static std::vector<std::uint32_t> sizes_of_calls(const device& gpu, int count, Ask&& ask) {
    EXPECT_OK(gpu.sync().get());
    blockade b(gpu);  // runs on the pump, so all other requests are in the mailbox when the pump continues
    if (!b.entered()) return {};
    std::vector<pending<std::uint32_t>> answers;
    for (int i = 0; i < count; ++i) answers.push_back(ask(i));
    b.lift();
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

TEST_P(coalescing, joins_neighbouring_requests_of_one_kind_in_a_call) {
  const device gpu = open();
  const auto x = zeros(gpu, 10);
  const auto ask = [&](int i) { return gpu.ask(together{.x = x[i], .kind = 1, .by = float(i)}); };
  EXPECT_EQ(sizes_of_calls(gpu, 10, ask), numbers(10, 10));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(value(gpu, x[i]), float(i));
}

TEST_P(coalescing, joins_requests_across_pooled_lanes) {
  const device gpu = open({.lanes = lane_policy::pooled});
  const auto x = zeros(gpu, 10);
  const auto ask = [&](int i) { return gpu.ask(together{.x = x[i], .kind = 1}); };
  EXPECT_EQ(sizes_of_calls(gpu, 10, ask), numbers(10, 10));
}

TEST_P(coalescing, delays_no_group_for_a_long_request_behind_it) {
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

TEST_P(coalescing, runs_a_request_without_neighbours_at_once) {
  const device gpu = open();
  const auto x = zero(gpu);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpu.ask(together{.x = x, .kind = 1}).get().value(), 1u);
  EXPECT_EQ(value(gpu, x), 3);
}

TEST_P(coalescing, separates_a_request_from_one_that_it_depends_on) {
  const device gpu = open();
  const auto x = zero(gpu), y = zero(gpu);
  const buffer<float> targets[] = {x, y, x, y, y};
  const auto ask = [&](int i) { return gpu.ask(together{.x = targets[i], .kind = 1}); };
  EXPECT_EQ(sizes_of_calls(gpu, 5, ask), (numbers{2, 2, 2, 2, 1}));
  EXPECT_EQ(value(gpu, x), 2);
  EXPECT_EQ(value(gpu, y), 3);
}

TEST_P(coalescing, separates_kinds_and_requests_that_opt_out) {
  const device gpu = open();
  const auto x = zeros(gpu, 7);
  const std::uint64_t kinds[] = {1, 1, 2, 2, 0, 0, 2};
  const auto ask = [&](int i) { return gpu.ask(together{.x = x[i], .kind = kinds[i]}, {.coalesce = i != 6}); };
  EXPECT_EQ(sizes_of_calls(gpu, 7, ask), (numbers{2, 2, 2, 2, 1, 1, 1}));
}

TEST_P(coalescing, can_be_switched_off_for_a_device) {
  const device gpu = open({.coalesce = false});
  const auto x = zeros(gpu, 5);
  const auto ask = [&](int i) { return gpu.ask(together{.x = x[i], .kind = 1}); };
  EXPECT_EQ(sizes_of_calls(gpu, 5, ask), numbers(5, 1));
}

TEST_P(coalescing, falls_back_to_single_calls_if_the_engine_refuses_the_group) {
  const device gpu = open();
  const auto x = zeros(gpu, 4);
  const auto ask = [&](int i) { return gpu.ask(together{.x = x[i], .kind = 13}); };
  EXPECT_EQ(sizes_of_calls(gpu, 4, ask), numbers(4, 1));
  for (const auto& t : x) EXPECT_EQ(value(gpu, t), 1);
}

TEST_P(coalescing, leaves_cancelled_requests_and_those_with_lost_inputs_out_of_the_call) {
  const device gpu = open();
  const auto x = zeros(gpu, 6);
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  std::vector<pending<std::uint32_t>> answers;
  gpu.tell(spoil{.target = x[1], .n = 1, .text = "spoiled"});
  for (int i = 0; i < 6; ++i) answers.push_back(gpu.ask(together{.x = x[i], .kind = 1}));
  answers[4].cancel();
  b.lift();
  EXPECT_EQ(answers[0].get().value(), 1u) << "the request that cannot run ended the group before it";
  EXPECT_TRUE(is_error(error_of(std::move(answers[1])), reaction::unsupported, {"spoiled", "testing.together"}));
  EXPECT_EQ(answers[2].get().value(), 3u);
  EXPECT_EQ(answers[3].get().value(), 3u);
  EXPECT_TRUE(is_error(error_of(std::move(answers[4])), reaction::retry_later, {"cancelled"}));
  EXPECT_EQ(answers[5].get().value(), 3u);
}

// Between them are uploads to another lane, for each of which only the neighboring request waits.
TEST_P(coalescing, joins_requests_around_work_on_other_lanes_and_waits_for_it) {
  const device gpu = open({.wait = wait_policy::efficient});
  constexpr int n = 40;
  const auto x = zeros(gpu, n);
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
      EXPECT_GE(shared, n / 2) << "no request needed their results";
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      ASSERT_EQ(results[i].get().value()[0], static_cast<float>(100 * round + 3 * static_cast<int>(i) + 1));
    for (int i = 0; i < n; ++i) ASSERT_EQ(value(gpu, x[i]), static_cast<float>(100 * round + i + 1));
  }
}

TEST_P(coalescing, spreads_many_requests_over_several_calls) {
  const device gpu = open();
  constexpr int n = 700;
  const auto all = gpu.alloc<float>(n, {.zeroed = true});
  const auto ask = [&](int i) { return gpu.ask(together{.x = all.slice(i, 1), .kind = 1}); };
  std::uint64_t shared = 0;
  for (const std::uint32_t size : sizes_of_calls(gpu, n, ask)) shared += size > 1;
  EXPECT_GE(shared, n - 10u);
  EXPECT_EQ(gpu.download(all).get().value(), std::vector<float>(n, 1.f));
}

}  // namespace
}  // namespace troupe::whole
