// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <troupe/channel/fuzz/hostile_ring.hpp>
#include <troupe/channel/testing/ring_memory.hpp>
#include <vector>

namespace troupe {
namespace {

// Runs the code of the fuzz target (fuzz/ring.fuzz.cpp) on random inputs. A defect aborts, so the seed is printed
// first.
TEST(ring_hostile, a_peer_that_writes_anything_anywhere_never_causes_an_access_outside_the_ring) {
  const std::uint64_t seed = testing::seed_or(20261121);
  std::printf("again with TROUPE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> input;
  for (int i = 0; i < 300'000; ++i) {
    input.resize(random() % 160);
    for (std::uint8_t& b : input) b = static_cast<std::uint8_t>(random());
    testing::hostile_ring(input).run();
  }
}

}  // namespace
}  // namespace troupe
