// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of requests with lists of operands of any length, and with factors in memory.
#include <tests/contract/harness.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class operand_lists : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));

  buffer<float> filled(const std::vector<float>& with) {
    auto b = gpu.alloc<float>(with.size());
    gpu.upload(b, with);
    return b;
  }
  float first(const buffer<float>& b) { return gpu.download(b).get().value()[0]; }
};
INSTANTIATE_TEST_SUITE_P(each, operand_lists, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

TEST_P(operand_lists, arrive_complete_at_any_length) {
  for (const std::size_t n : {0u, 1u, 11u, 12u, 13u, 100u, 5000u}) {
    SCOPED_TRACE(n);
    // Every third element of a buffer, from the last to the first, so that no two are adjacent.
    std::vector<in<float>> parts;
    const auto all = filled(std::vector<float>(3 * n + 1, 2.f));
    for (std::size_t i = n; i-- > 0;) parts.emplace_back(all.slice(3 * i, 1));
    const float sum = 2 * static_cast<float>(n);
    const auto target = gpu.alloc<float>(1);
    EXPECT_EQ(gpu.ask(sum_of{.parts = parts, .target = target}).get().value(), n);
    EXPECT_EQ(first(target), sum);
  }
}

TEST_P(operand_lists, are_refused_with_too_many_separate_ranges) {
  const auto all = filled(std::vector<float>(3 << 20));
  std::vector<in<float>> parts;
  for (std::size_t i = 0; i <= 1 << 20; ++i) parts.emplace_back(all.slice(2 * static_cast<std::int64_t>(i), 1));
  const auto target = gpu.alloc<float>(1);
  EXPECT_TRUE(is_error(error_of(gpu.ask(sum_of{.parts = parts, .target = target})), reaction::caller_bug,
                       {"testing.sum_of", "separate ranges", "expected at most 1048576"}));
  EXPECT_EQ(gpu.ask(sum_of{.parts = {all.slice(0, 1)}, .target = target}).get().value(), 1u);
}

TEST_P(operand_lists, keep_slices_alive_and_ordered_like_any_operand) {
  constexpr int n = 3000;
  auto all = gpu.alloc<float>(n);
  const auto target = gpu.alloc<float>(1);
  blockade b(gpu);
  std::vector<inout<float>> slices;
  std::vector<in<float>> every_other;
  for (int i = 0; i < n; ++i) slices.emplace_back(all.slice(i, 1));
  for (int i = 0; i < n; i += 2) every_other.emplace_back(all.slice(i, 1));
  gpu.fill(all, 1.f);
  gpu.tell(number_all{.targets = slices});
  slices.clear();
  gpu.tell(sum_of{.parts = every_other, .target = target});
  every_other.clear();
  auto later = gpu.download(all);
  all = {};
  b.lift();
  float sum = 0;
  for (int i = 0; i < n; i += 2) sum += static_cast<float>(i);
  EXPECT_EQ(first(target), sum);
  EXPECT_EQ(later.get().value(), counting(n));
  EXPECT_OK(gpu.sync().get());
  EXPECT_EQ(gpu.statistics().memory.used_bytes, 256u) << "only the target is still allocated";
}

TEST_P(operand_lists, name_the_refused_element) {
  std::vector<in<float>> parts;
  for (int i = 0; i < 20; ++i) parts.emplace_back(filled({1}));
  auto target = gpu.alloc<float>(1);
  parts[17] = in<float>(buffer<float>());
  EXPECT_TRUE(is_error(error_of(gpu.ask(sum_of{.parts = parts, .target = target})), reaction::caller_bug,
                       {"testing.sum_of: parts[17] is an empty buffer"}));
  target = filled({1});  // a new buffer, because a refused request makes its outputs stale
  parts[17] = in<float>(target);
  EXPECT_TRUE(is_error(error_of(gpu.ask(sum_of{.parts = parts, .target = target})), reaction::caller_bug,
                       {"target overlaps parts[17]"}));
  const auto twice = gpu.alloc<float>(40);
  std::vector<inout<float>> targets;
  for (int i = 0; i < 20; ++i) targets.emplace_back(twice.slice(i, 1));
  targets.emplace_back(twice.slice(5, 3));
  const error e = error_of(gpu.ask(number_all{.targets = targets}));
  EXPECT_TRUE(is_error(e, reaction::caller_bug, {"overlaps", "targets[5]", "targets[20]"}));
  EXPECT_TRUE(is_error(error_of(gpu.download(twice.slice(19, 1))), reaction::caller_bug, {"targets[20]"}))
      << "its output is stale";
}

TEST_P(operand_lists, make_only_their_outputs_stale_on_failure) {
  const auto all = gpu.alloc<float>(64, {.zeroed = true});
  const auto bad = gpu.alloc<float>(1);
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  gpu.tell(spoil{.target = bad, .n = 1, .text = "the reason"});
  std::vector<inout<float>> targets;
  for (int i = 0; i < 64; i += 2) targets.emplace_back(all.slice(i, 1));
  targets.emplace_back(bad);
  auto failed = gpu.ask(number_all{.targets = targets});
  b.lift();
  EXPECT_TRUE(is_error(error_of(std::move(failed)), reaction::unsupported, {"the reason", "testing.number_all"}));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(all.slice(i, 1).readable(), i % 2 == 1) << i;
}

TEST_P(operand_lists, accept_numbers_in_memory_that_an_earlier_request_writes) {
  const auto factor = filled({0, 7}), target = gpu.alloc<float>(1);
  const std::vector<in<float>> parts{filled({2}), filled({3})};
  EXPECT_OK(gpu.ask(sum_of{.parts = parts, .target = target, .factor = 3}).get());
  EXPECT_EQ(first(target), 15);
  gpu.fill(factor, 4.f);
  EXPECT_OK(gpu.ask(sum_of{.parts = parts, .target = target, .factor = factor}).get());
  EXPECT_EQ(first(target), 20);
  EXPECT_TRUE(is_error(error_of(gpu.ask(sum_of{.parts = parts, .target = target, .factor = buffer<float>()})),
                       reaction::caller_bug, {"factor is an empty buffer"}));
  const auto both = filled({1});
  EXPECT_TRUE(is_error(error_of(gpu.ask(sum_of{.parts = parts, .target = both, .factor = both})), reaction::caller_bug,
                       {"target overlaps factor"}));
  gpu.tell(spoil{.target = factor, .n = 1, .text = "no factor"});
  EXPECT_TRUE(is_error(error_of(gpu.ask(sum_of{.parts = parts, .target = target, .factor = factor})),
                       reaction::unsupported, {"no factor", "testing.sum_of"}));
}

}  // namespace
}  // namespace troupe::whole
