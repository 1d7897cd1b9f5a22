// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <troupe/memory/copying/staging.hpp>

namespace troupe {
namespace {

TEST(staging, a_thread_whose_announced_sleep_was_overwritten_still_wakes) {
  using namespace std::chrono_literals;
  staging_header h;
  std::thread waits([&h] { h.await([&h] { return h.filled.reaches(1); }); });
  while (h.sleepers.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);  // the other thread sleeps by now
  h.sleepers.store(0);                // as a worker might
  h.step(h.filled, 1);
  waits.join();
}

TEST(staging, chunks_grow_with_the_transfer_only_for_a_gpu) {
  constexpr std::uint64_t kib = 1024;
  const auto plan = [](std::uint64_t bytes) { return staging_plan::for_bytes(bytes, staging_sizes::for_gpu()); };
  EXPECT_EQ(plan(100 * kib).chunk_bytes, 100 * kib);
  EXPECT_EQ(plan(4096 * kib).chunk_bytes, 256 * kib);
  EXPECT_EQ(plan(9000 * kib).chunk_bytes, 512 * kib);
  EXPECT_EQ(plan(9000 * kib).chunks, 16u);
  EXPECT_EQ(plan(kib << 20).chunk_bytes, 2048 * kib);
  EXPECT_LE(plan(kib << 20).block_bytes(), 32 * 1024 * kib + sizeof(staging_header));
  EXPECT_EQ(staging_plan::for_bytes(kib << 20).chunk_bytes, 256 * kib) << "on the host they do not";
}

// The copies in flight from one device share 256 MiB.
TEST(staging, blocks_are_smaller_for_copies_between_devices) {
  constexpr std::uint64_t mib = 1 << 20;
  const staging_sizes sizes = staging_sizes::for_gpu().between_devices();
  EXPECT_LE(staging_plan::for_bytes(1024 * mib, sizes).block_bytes() * 30, 256 * mib);
  EXPECT_EQ(staging_plan::for_bytes(1024 * mib, staging_sizes().between_devices()).chunk_bytes, mib / 4);
}

// Transfers of any length, also if they end in the middle of a chunk.
TEST(staging, the_chunks_of_a_plan_add_up_to_all_bytes) {
  const staging_sizes growing{.one_request = 1, .chunk = 8, .most_chunks = 3, .largest_chunk = 24, .piece = 4};
  for (std::uint64_t bytes = 1; bytes < 300; ++bytes) {
    const staging_plan plan = staging_plan::for_bytes(bytes, growing);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < plan.count(); ++i) sum += plan.size(i);
    EXPECT_EQ(sum, bytes);
    EXPECT_LE(plan.chunk_bytes, 24u);
    EXPECT_LE(plan.chunks, 3u);
    EXPECT_LE(plan.chunks, plan.count());
  }
}

}  // namespace
}  // namespace troupe
