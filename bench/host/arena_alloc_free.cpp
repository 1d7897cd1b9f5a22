// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Allocations and frees while 10^5 buffers are live. Their sizes are 256 B to 8 KiB, distributed evenly by logarithm,
// and each was replaced a few times before, so that there are holes. malloc and free get the same sizes and the same
// number of live blocks.
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

constexpr std::size_t live = 100'000, per_round = 1000;

struct free_it {
  void operator()(void* p) const noexcept { std::free(p); }
};
using malloced = std::unique_ptr<void, free_it>;

std::vector<std::uint32_t> random_sizes(std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<double> exponent(8, 13);
  std::vector<std::uint32_t> sizes(count);
  for (auto& s : sizes) s = static_cast<std::uint32_t>(std::exp2(exponent(random)));
  return sizes;
}

// Compilers may remove a malloc whose result is not used.
void use(const void* p) noexcept { asm volatile("" : : "r"(p) : "memory"); }

// All live blocks, each replaced three times: a heap as it is after a long time.
template <class Block, class Make>
std::vector<Block> allocate_live_blocks(Make make, const std::vector<std::uint32_t>& sizes, std::mt19937_64 random) {
  std::vector<Block> all;
  for (std::size_t i = 0; i < live; ++i) all.push_back(make(sizes[i]));
  for (std::size_t i = live; i < sizes.size(); ++i) {
    Block& b = all[random() % live];
    b = Block();
    b = make(sizes[i]);
  }
  return all;
}

// The nanoseconds for allocating and freeing one more block, and for replacing a random one.
template <class Block, class Make>
double allocate_and_free(Make make, const std::vector<std::uint32_t>& sizes) {
  const std::int64_t start = now_ns();
  for (std::size_t i = 0; i < per_round; ++i) {
    const Block one = make(sizes[i]);
    use(&one);
  }
  return static_cast<double>(now_ns() - start) / per_round;
}

template <class Block, class Make>
double replace(Make make, std::vector<Block>& blocks, const std::vector<std::uint32_t>& sizes,
               const std::vector<std::uint32_t>& which) {
  const std::int64_t start = now_ns();
  for (std::size_t i = 0; i < per_round; ++i) {
    Block& b = blocks[which[i]];
    b = Block();
    b = make(sizes[i]);
  }
  return static_cast<double>(now_ns() - start) / per_round;
}

}  // namespace

figures run_arena_alloc_free(const settings& s) {
  const device_under_test gpu(s, {.memory_limit = std::uint64_t{4} << 30});
  std::mt19937_64 random(20240607);
  const auto first = random_sizes(4 * live, random);
  const auto ours = [&](std::uint32_t bytes) { return gpu->alloc<std::byte>(bytes); };
  const auto raw = [](std::uint32_t bytes) { return malloced(std::malloc(bytes)); };
  auto buffers = allocate_live_blocks<buffer<std::byte>>(ours, first, random);
  auto blocks = allocate_live_blocks<malloced>(raw, first, random);

  std::vector<std::uint32_t> sizes, which;
  const auto next_round = [&] {
    sizes = random_sizes(per_round, random);
    which.resize(per_round);
    for (auto& w : which) w = static_cast<std::uint32_t>(random() % live);
  };
  const int rounds = s.rounds(301);
  const pair_of_medians pair = interleaved(
      rounds, [&] { return next_round(), allocate_and_free<buffer<std::byte>>(ours, sizes); },
      [&] { return next_round(), allocate_and_free<malloced>(raw, sizes); });
  const pair_of_medians replaced = interleaved(
      rounds, [&] { return next_round(), replace(ours, buffers, sizes, which); },
      [&] { return next_round(), replace(raw, blocks, sizes, which); });

  const memory_statistics now = gpu->statistics().memory;
  char note[200];
  std::snprintf(note, sizeof note,
                "replacing one at random, out of cache: %.0f ns, malloc %.0f; fragmentation %.2f, reserved / used %.2f",
                replaced.ours, replaced.raw, now.fragmentation,
                static_cast<double>(now.reserved_bytes) / static_cast<double>(now.used_bytes));
  figures f{.ours = pair.ours, .raw = pair.raw, .note = note};
  if (now.live_buffers != live) f.objection = cat(now.live_buffers, " buffers live, not 100000");
  if (now.failed_allocations != 0) f.objection = cat(now.failed_allocations, " allocations failed");
  return f;
}

}  // namespace troupe::bench
