// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <tests/simulation/workers/damaged_word.hpp>
#include "many_runs.hpp"

namespace troupe::simulation {
namespace {

std::uint64_t given(const char* name, std::uint64_t otherwise) {
  const char* set = std::getenv(name);
  return set != nullptr ? std::strtoull(set, nullptr, 0) : otherwise;
}

constexpr std::uint64_t shards = 2;

// Two programs share the schedules, to use two cores.
class simulation_of_a_device : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(shard, simulation_of_a_device, testing::Range<std::uint64_t>(0, shards));

TEST_P(simulation_of_a_device, answers_every_request_once_and_correctly) {
  const std::uint64_t seed = given("TROUPE_SEED", 1), all = given("TROUPE_SCHEDULES", TROUPE_DEFAULT_SCHEDULES);
  const std::uint64_t mine = all / shards + (GetParam() < all % shards);
  const summary s = run_many(seed + GetParam(), mine, shards);
  if (s.failure) FAIL() << s.failure->text;
  EXPECT_EQ(s.finished, mine);
  std::printf("%lu schedules: %lu successes, %lu failures, %lu restarts, %lu times garbage\n",
              static_cast<unsigned long>(s.finished), static_cast<unsigned long>(s.answers),
              static_cast<unsigned long>(s.failures), static_cast<unsigned long>(s.recoveries),
              static_cast<unsigned long>(s.garbage));
}

// Samples the damage, or tries all of it for a number of runs: TROUPE_DAMAGED_RUNS.
TEST_P(simulation_of_a_device, obeys_its_rules_despite_a_damaged_word) {
  const std::uint64_t all_of = given("TROUPE_DAMAGED_RUNS", 0),
                      samples = given("TROUPE_DAMAGES", TROUPE_DEFAULT_DAMAGES);
  constexpr std::uint64_t each = damaged_word::all * damaged_word::steps;
  const std::uint64_t count = (all_of != 0 ? all_of * each : samples) / shards;
  const summary s = run_many(
      [&](std::uint64_t i) {
        const std::uint64_t n = i * shards + GetParam();
        return (all_of != 0 ? damaged_word::number(n % each, static_cast<std::uint32_t>(n / each))
                            : damaged_word::sample(n))
            .seed();
      },
      count);
  if (s.failure) FAIL() << s.failure->text;
  EXPECT_EQ(s.finished, count);
  EXPECT_GT(s.garbage, count / 100) << "too little is damaged";
  std::printf("%lu runs: %lu words damaged, %lu successes, %lu failures, %lu restarts\n",
              static_cast<unsigned long>(s.finished), static_cast<unsigned long>(s.garbage),
              static_cast<unsigned long>(s.answers), static_cast<unsigned long>(s.failures),
              static_cast<unsigned long>(s.recoveries));
}

TEST(simulation, repeats_a_run_for_its_seed) {
  const std::uint64_t seed = given("TROUPE_SEED", 1);
  const summary once = run_many(seed, 200), again = run_many(seed, 200), other = run_many(seed + 200, 200);
  EXPECT_EQ(once.hash_of_all, again.hash_of_all);
  EXPECT_NE(once.hash_of_all, other.hash_of_all);
}

}  // namespace
}  // namespace troupe::simulation
