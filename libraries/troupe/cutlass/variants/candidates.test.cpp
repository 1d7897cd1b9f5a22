// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <troupe/cutlass/templates/combining_share.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <vector>

namespace troupe::cutlass {
namespace {

struct part {
  std::int64_t first, steps;
};

// Returns the parts of a tile, as templates/schedule.cuh computes them.
std::vector<part> parts_of(const division& d, std::int64_t tile, std::int64_t steps) {
  const std::int64_t units = d.divided * steps;
  std::vector<part> out;
  for (std::int64_t i = 0; i < d.sharers; ++i) {
    const std::int64_t first = std::max(units * i / d.sharers, tile * steps),
                       end = std::min(units * (i + 1) / d.sharers, (tile + 1) * steps);
    if (first < end) out.push_back({first - tile * steps, end - first});
  }
  return out;
}

TEST(cutlass_tile_division, parts_cover_each_tile) {
  for (std::int64_t tiles = 1; tiles < 300; tiles += 7)
    for (const std::int64_t clusters : {1, 2, 66, 132})
      for (const std::int64_t steps : {1, 3, 4, 63, 784})
        for (const int most : {1, 8, 128}) {
          SCOPED_TRACE(::testing::Message() << tiles << " tiles of " << steps << " steps, " << clusters << " clusters, "
                                            << most << " may share a tile");
          const division d = divide(tiles, clusters, steps, most);
          ASSERT_EQ(d.undivided + d.divided, tiles);
          ASSERT_EQ(d.undivided % clusters, 0);
          ASSERT_LT(d.divided, clusters);
          ASSERT_LE(d.sharers, clusters);
          ASSERT_EQ(d.sharers == 0, d.divided == 0);
          for (std::int64_t t = 0; t < d.divided; ++t) {
            const std::vector<part> parts = parts_of(d, t, steps);
            ASSERT_LE(parts.size(), static_cast<std::size_t>(d.parts));
            std::int64_t steps_of_all = 0;
            for (const part& p : parts) steps_of_all += p.steps;
            ASSERT_EQ(steps_of_all, steps);
          }
        }
}

TEST(cutlass_tile_division, parts_of_all_tiles_begin_at_the_same_k) {
  for (const std::int64_t tiles : {1, 4, 8, 12, 56, 64}) {
    const division d = divide(tiles, 132, 784, 128);
    ASSERT_TRUE(d.aligned) << tiles;
    EXPECT_GE(d.sharers, 132 * 4 / 5) << tiles;
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::vector<part> parts = parts_of(d, t, 784), first = parts_of(d, 0, 784);
      ASSERT_EQ(parts.size(), static_cast<std::size_t>(d.parts));
      for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].first, first[i].first);
    }
  }
}

TEST(cutlass_tile_division, many_idle_blocks_prevent_aligned_parts) {
  const division d = divide(100, 132, 784, 8);  // one cluster for each tile would leave 32 of 132 idle
  EXPECT_FALSE(d.aligned);
  EXPECT_EQ(d.sharers, 132);
}

// Returns the signature of a product of two square matrices with contiguous terms.
kernel_signature signature_of_product(dtype t, matmul::accumulation how) {
  problem p;
  p.m = p.n = p.k = 8192, p.sums = dtype::f32, p.options.accumulation = how;
  p.a = {1 << 20, t, 8192, 1, 0}, p.b = {1 << 28, t, 8192, 1, 0}, p.d = {1 << 29, dtype::bf16, 8192, 1, 0};
  return signature_of(p);
}

TEST(cutlass_candidates, extents_beyond_what_kernels_count_are_refused) {
  const kernel_signature f = signature_of_product(dtype::bf16, matmul::accumulation::precise);
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 512;
  std::string why_not;
  for (const extents& e : {extents{most + 1, 1, 1, 1}, extents{1, most + 1, 1, 1}, extents{1, 1, most + 1, 1},
                           extents{1, 1, 1, most + 1}, extents{1, 1, 1, std::int64_t{1} << 40}}) {
    const auto found = all_candidates(f, e, testing::h100, {}, why_not);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().reaction(), reaction::unsupported);
    EXPECT_NE(found.error().text().find("expected at most 2147483136 of each"), std::string::npos)
        << found.error().text();
  }
  EXPECT_TRUE(all_candidates(f, {1, 1, most, 1}, testing::h100, {}, why_not));
}

TEST(cutlass_candidates, precise_f8_accumulation_is_expected_to_take_longer) {
  const auto fewest_us = [](dtype t, matmul::accumulation how) {
    const auto all = candidates_for(signature_of_product(t, how), {8192, 8192, 8192, 1}, testing::h100, {});
    return all ? all->front().microseconds : 0;
  };
  const double ratio =
      fewest_us(dtype::f8e4m3, matmul::accumulation::precise) / fewest_us(dtype::f8e4m3, matmul::accumulation::fast);
  EXPECT_NEAR(ratio, 1553.0 / 1181, 0.05) << "as measured";
  EXPECT_EQ(fewest_us(dtype::bf16, matmul::accumulation::precise), fewest_us(dtype::bf16, matmul::accumulation::fast));
}

TEST(cutlass_combining_shares, each_line_of_each_product_is_combined_once) {
  for (const int blocks : {1, 2, 3, 7, 64, 1024})
    for (const int products : {1, 2, 3, 5, 64, 1000, 1024, 1025, 70000}) {
      std::map<std::pair<int, int>, int> owners;  // by product, and by the index of a line modulo `parts`
      int most = 0;
      for (int block = 0; block < blocks; ++block) {
        const kernels::combining_share s = kernels::share_of(block, blocks, products);
        int mine = 0;
        for (int product = s.first; product < products; product += s.step, ++mine) ++owners[{product, s.part}];
        most = std::max(most, mine);
        ASSERT_LT(s.part, s.parts);
      }
      const int parts = kernels::share_of(0, blocks, products).parts;
      ASSERT_EQ(owners.size(), static_cast<std::size_t>(products) * static_cast<std::size_t>(parts))
          << blocks << " blocks, " << products << " products";
      for (const auto& [what, times] : owners) ASSERT_EQ(times, 1) << what.first << ", part " << what.second;
      EXPECT_LE(most, (products + blocks - 1) / blocks) << blocks << " blocks, " << products << " products";
    }
}

}  // namespace
}  // namespace troupe::cutlass
