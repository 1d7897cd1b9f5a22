// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <troupe/memory/blocks/arena.hpp>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint64_t MiB = 1024 * 1024, GiB = 1024 * MiB;
constexpr std::uint64_t base = 0x2000'0000'0000;

arena::options reporting() { return {.on_misuse = arena::misuse::report}; }

void give_back(arena& a, arena::node* n) { ASSERT_EQ(a.free(n), arena::freed::yes); }

TEST(arena, allocates_aligned_ranges_inside_its_segment) {
  arena a;
  ASSERT_TRUE(a.add_segment(7, base, 1 * MiB));
  arena::node* n = a.allocate(1);
  arena::node* m = a.allocate(257);
  ASSERT_TRUE(n && m);
  EXPECT_EQ(n->bytes(), 256u);
  EXPECT_EQ(m->bytes(), 512u);
  EXPECT_EQ(n->segment(), 7);
  for (const arena::node* x : {n, m}) {
    EXPECT_EQ(x->address() % 256, 0u);
    EXPECT_GE(x->address(), base);
    EXPECT_LE(x->address() + x->bytes(), base + 1 * MiB);
  }
  EXPECT_EQ(a.used_bytes(), 768u);
  EXPECT_EQ(a.live_ranges(), 2u);
}

TEST(arena, finds_the_live_range_at_an_address) {
  arena a;
  ASSERT_TRUE(a.add_segment(7, base, 1 * MiB));
  ASSERT_TRUE(a.add_segment(8, base + 4 * MiB, 2 * MiB));
  arena::node *n = a.allocate(512), *m = a.allocate(300), *in_another = a.allocate(2 * MiB);
  ASSERT_TRUE(n && m && in_another);
  for (const arena::node* x : {n, m, in_another})
    for (const std::uint64_t at : {std::uint64_t{0}, x->bytes() - 1}) EXPECT_EQ(a.find(x->address() + at), x) << at;
  const std::uint64_t middle = m->address();
  give_back(a, m);
  EXPECT_EQ(a.find(middle), nullptr) << "it is free";
  for (const std::uint64_t outside : {std::uint64_t{0}, base - 1, base + 1 * MiB, base + 6 * MiB})
    EXPECT_EQ(a.find(outside), nullptr) << outside - base;
}

TEST(arena, allocates_nothing_without_segments) {
  arena a;
  EXPECT_EQ(a.allocate(1), nullptr);
  EXPECT_EQ(a.statistics().largest_free_bytes, 0u);
  EXPECT_EQ(a.fragmentation(), 0.0);
}

TEST(arena, refuses_zero_bytes_overflowing_sizes_and_alignments_other_than_powers_of_two) {
  arena a;
  ASSERT_TRUE(a.add_segment(0, base, 64 * MiB));
  EXPECT_EQ(a.allocate(0), nullptr);
  for (std::uint64_t bytes : {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 254, UINT64_MAX - 255, UINT64_MAX - 256,
                              UINT64_MAX / 2, std::uint64_t{1} << 63, std::uint64_t{1} << 48, 64 * MiB + 1})
    for (std::uint64_t alignment : {std::uint64_t{1}, 2 * MiB, std::uint64_t{1} << 63})
      EXPECT_EQ(a.allocate(bytes, alignment), nullptr) << bytes << " at " << alignment;
  EXPECT_EQ(a.allocate(256, 0), nullptr);
  EXPECT_EQ(a.allocate(256, 3), nullptr);
  EXPECT_EQ(a.allocate(256, std::uint64_t{1} << 63), nullptr);
  EXPECT_EQ(a.live_ranges(), 0u);
  EXPECT_EQ(a.statistics().largest_free_bytes, 64 * MiB);
}

TEST(arena, honors_every_alignment_up_to_two_mebibytes) {
  arena a;
  ASSERT_TRUE(a.add_segment(0, base + 256, 64 * MiB));  // aligned to the granule only
  std::vector<arena::node*> live;
  for (std::uint64_t alignment = 1; alignment <= 2 * MiB; alignment *= 2) {
    live.push_back(a.allocate(700, alignment));
    ASSERT_TRUE(live.back()) << alignment;
    EXPECT_EQ(live.back()->address() % std::max<std::uint64_t>(alignment, 256), 0u) << alignment;
    EXPECT_EQ(live.back()->bytes(), 768u);
  }
  for (arena::node* n : live) give_back(a, n);
  EXPECT_EQ(a.statistics().free_ranges, 1u);
}

TEST(arena, allocates_a_range_that_fills_a_segment_exactly) {
  arena a;
  const std::uint64_t odd = 3 * MiB + 5 * 256;  // not on the border of a size class
  ASSERT_TRUE(a.add_segment(0, base, odd));
  ASSERT_TRUE(a.add_segment(1, base + 16 * MiB, 2 * MiB));
  arena::node* whole = a.allocate(odd);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->address(), base);
  arena::node* aligned = a.allocate(2 * MiB, 2 * MiB);
  ASSERT_TRUE(aligned);
  EXPECT_EQ(aligned->address(), base + 16 * MiB);
  EXPECT_EQ(a.statistics().free_ranges, 0u);
  EXPECT_EQ(a.used_bytes(), a.reserved_bytes());
}

TEST(arena, allocates_from_a_new_segment_despite_many_ranges_that_nearly_fit) {
  arena a;
  const std::uint64_t wanted = 1 * MiB + 31 * 256;
  for (std::uint64_t i = 0; i < 100; ++i)  // all of the same size class, and a little too small
    ASSERT_TRUE(a.add_segment(static_cast<arena::segment_id>(i), base + i * 16 * MiB, wanted - 256));
  EXPECT_EQ(a.allocate(wanted), nullptr);
  ASSERT_TRUE(a.add_segment(100, base + 100 * 16 * MiB, wanted));
  arena::node* n = a.allocate(wanted);
  ASSERT_TRUE(n);
  EXPECT_EQ(n->segment(), 100);
}

TEST(arena, skips_ranges_of_the_right_size_class_that_are_too_small) {
  arena a;
  const std::uint64_t wanted = 1 * MiB + 31 * 256;
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_TRUE(a.add_segment(static_cast<arena::segment_id>(i), base + i * 16 * MiB, i == 0 ? wanted : wanted - 256));
  arena::node* n = a.allocate(wanted);
  ASSERT_TRUE(n);
  EXPECT_EQ(n->segment(), 0);
}

TEST(arena, allocates_every_granule_before_it_fails) {
  arena a;
  ASSERT_TRUE(a.add_segment(0, base, 1 * MiB));
  std::vector<arena::node*> live;
  while (arena::node* n = a.allocate(256)) live.push_back(n);
  EXPECT_EQ(live.size(), 4096u);
  EXPECT_EQ(a.used_bytes(), a.reserved_bytes());
  EXPECT_EQ(a.statistics().free_ranges, 0u);
  EXPECT_EQ(a.fragmentation(), 0.0);

  std::sort(live.begin(), live.end(), [](auto* x, auto* y) { return x->address() < y->address(); });
  for (std::size_t i = 0; i < live.size(); i += 2) give_back(a, live[i]);
  EXPECT_EQ(a.statistics().free_ranges, 2048u);
  EXPECT_EQ(a.statistics().largest_free_bytes, 256u);
  EXPECT_DOUBLE_EQ(a.fragmentation(), 1.0 - 1.0 / 2048);
  EXPECT_EQ(a.allocate(512), nullptr);

  for (std::size_t i = 1; i < live.size(); i += 2) give_back(a, live[i]);
  EXPECT_EQ(a.statistics().free_ranges, 1u);
  EXPECT_EQ(a.fragmentation(), 0.0);
  EXPECT_EQ(a.statistics().high_water_bytes, 1 * MiB);
  EXPECT_TRUE(a.allocate(1 * MiB));
}

TEST(arena, merges_neighbors_in_any_order_of_freeing) {
  for (std::vector<int> order : {std::vector{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    arena a;
    ASSERT_TRUE(a.add_segment(0, base, 3 * 256));
    std::vector<arena::node*> live{a.allocate(256), a.allocate(256), a.allocate(256)};
    for (int i : order) give_back(a, live[static_cast<std::size_t>(i)]);
    EXPECT_EQ(a.statistics().free_ranges, 1u);
    EXPECT_EQ(a.statistics().largest_free_bytes, 3u * 256);
  }
}

TEST(arena, never_merges_ranges_of_two_adjacent_segments) {
  arena a;
  ASSERT_TRUE(a.add_segment(0, base, 1 * MiB));
  ASSERT_TRUE(a.add_segment(1, base + 1 * MiB, 1 * MiB));
  EXPECT_EQ(a.allocate(1 * MiB + 256), nullptr);
  arena::node *x = a.allocate(1 * MiB), *y = a.allocate(1 * MiB);
  ASSERT_TRUE(x && y);
  give_back(a, x);
  give_back(a, y);
  EXPECT_EQ(a.statistics().free_ranges, 2u);
  EXPECT_TRUE(a.remove_segment(0));
  EXPECT_EQ(a.reserved_bytes(), 1 * MiB);
}

TEST(arena, refuses_invalid_segments) {
  arena a;
  ASSERT_TRUE(a.add_segment(1, base, 1 * MiB));
  const auto text = [&](arena::segment_id id, std::uint64_t address, std::uint64_t bytes) {
    auto r = a.add_segment(id, address, bytes);
    return r ? std::string("accepted") : r.error().text();
  };
  EXPECT_EQ(text(1, base + GiB, 256), "arena: segment 1 was added before");
  EXPECT_EQ(text(2, base + 256, 256), "arena: segment 2 overlaps another segment");
  EXPECT_EQ(text(2, base - 256, 2 * MiB), "arena: segment 2 overlaps another segment");
  EXPECT_EQ(text(2, base - 256, 512), "arena: segment 2 overlaps another segment");
  const std::string shape = "arena: segment 2 has an address or a size that is 0 or no multiple of the granule";
  EXPECT_EQ(text(2, 0, 256), shape);
  EXPECT_EQ(text(2, base + GiB, 0), shape);
  EXPECT_EQ(text(2, base + GiB + 16, 256), shape);
  EXPECT_EQ(text(2, base + GiB, 300), shape);
  EXPECT_EQ(text(2, UINT64_MAX - 511, 512), "arena: segment 2 ends above 2^64");
  EXPECT_EQ(text(2, UINT64_MAX - 511, 1024), "arena: segment 2 ends above 2^64");
  EXPECT_EQ(text(2, 256, std::uint64_t{1} << 48), "arena: segment 2 is too large: sizes are below 2^48");
  EXPECT_EQ(a.statistics().segments, 1u);
  EXPECT_EQ(text(2, UINT64_MAX - 511, 256), "accepted");
  EXPECT_EQ(text(3, std::uint64_t{1} << 60, (std::uint64_t{1} << 48) - 256), "accepted");
  ASSERT_TRUE(a.allocate((std::uint64_t{1} << 48) - 256));
}

TEST(arena, removes_a_segment_only_while_all_of_it_is_free) {
  arena a;
  EXPECT_FALSE(a.remove_segment(0));
  ASSERT_TRUE(a.add_segment(0, base, 1 * MiB));
  ASSERT_TRUE(a.add_segment(1, base + GiB, 1 * MiB));
  EXPECT_EQ(a.idle_segments(), (std::vector<arena::segment_id>{0, 1}));
  arena::node* n = a.allocate(256);
  ASSERT_TRUE(n);
  const arena::segment_id used = n->segment(), idle = static_cast<arena::segment_id>(1 - used);
  EXPECT_EQ(a.idle_segments(), std::vector{idle});
  EXPECT_FALSE(a.remove_segment(used));
  EXPECT_TRUE(a.remove_segment(idle));
  EXPECT_FALSE(a.remove_segment(idle));
  EXPECT_EQ(a.reserved_bytes(), 1 * MiB);
  give_back(a, n);
  EXPECT_TRUE(a.remove_segment(used));
  EXPECT_EQ(a.reserved_bytes(), 0u);
  EXPECT_EQ(a.allocate(256), nullptr);
  ASSERT_TRUE(a.add_segment(used, base, 1 * MiB));
  EXPECT_TRUE(a.allocate(1 * MiB));
}

TEST(arena, allocates_from_any_number_of_segments) {
  arena a;
  constexpr std::uint64_t count = 5000;
  for (std::uint64_t i = 0; i < count; ++i)
    ASSERT_TRUE(a.add_segment(static_cast<arena::segment_id>(i), base + i * 2 * MiB, 2 * MiB));
  std::vector<arena::node*> live;
  while (arena::node* n = a.allocate(2 * MiB)) live.push_back(n);
  EXPECT_EQ(live.size(), count);
  for (arena::node* n : live) give_back(a, n);
  EXPECT_EQ(a.statistics().free_ranges, count);
  for (arena::segment_id id : a.idle_segments()) EXPECT_TRUE(a.remove_segment(id));
  EXPECT_EQ(a.statistics().segments, 0u);
  EXPECT_EQ(a.statistics().free_ranges, 0u);
}

TEST(arena, reports_a_second_free_and_changes_nothing) {
  arena a(reporting());
  ASSERT_TRUE(a.add_segment(0, base, 1 * MiB));
  std::vector<arena::node*> live;
  for (int i = 0; i < 8; ++i) live.push_back(a.allocate(256));
  // Freed in this order, ranges are merged in every way: with none, with the range above, with the range below, with
  // both.
  for (std::size_t i : {1u, 3u, 2u, 5u, 6u, 0u}) {
    give_back(a, live[i]);
    const arena_statistics before = a.statistics();
    for (std::size_t again : {std::size_t{1}, i})
      EXPECT_EQ(a.free(live[again]), arena::freed::not_live) << again << " after " << i;
    EXPECT_EQ(a.statistics().used_bytes, before.used_bytes);
    EXPECT_EQ(a.statistics().free_ranges, before.free_ranges);
  }
  for (std::size_t i : {4u, 7u}) give_back(a, live[i]);
  EXPECT_EQ(a.statistics().free_ranges, 1u);
  EXPECT_EQ(a.statistics().largest_free_bytes, 1 * MiB);
}

TEST(arena, reports_a_node_of_another_arena_and_changes_nothing) {
  arena a(reporting()), b(reporting());
  ASSERT_TRUE(a.add_segment(0, base, 1 * MiB));
  ASSERT_TRUE(b.add_segment(0, base, 1 * MiB));
  arena::node *n = a.allocate(256), *m = b.allocate(256);
  EXPECT_EQ(a.free(m), arena::freed::foreign);
  EXPECT_EQ(b.free(n), arena::freed::foreign);
  EXPECT_EQ(a.free(nullptr), arena::freed::foreign);
  EXPECT_EQ(a.live_ranges(), 1u);
  give_back(a, n);
  give_back(b, m);
  EXPECT_EQ(b.free(n), arena::freed::foreign);
}

TEST(arena_death, aborts_on_misuse_and_prints_it_if_the_option_says_so) {
  arena a({.on_misuse = arena::misuse::abort}), b(reporting());
  ASSERT_TRUE(a.add_segment(0, base, 1 * MiB));
  ASSERT_TRUE(b.add_segment(0, base, 1 * MiB));
  arena::node *n = a.allocate(256), *m = b.allocate(256);
  EXPECT_DEATH((void)a.free(m), "troupe::arena: free of a node that does not belong to this arena");
  give_back(a, n);
  EXPECT_DEATH((void)a.free(n), "troupe::arena: free of a node that was freed before");
}

TEST(arena_death, aborts_on_invalid_options) {
  EXPECT_DEATH(arena({.granule = 100}), "granule");
  EXPECT_DEATH(arena({.granule = 8}), "granule");
  EXPECT_DEATH(arena({.payload_bytes = 8, .payload_align = 128}), "payload");
}

TEST(arena, has_aligned_payloads_that_are_zero_at_first_and_lead_back_to_their_node) {
  for (int life = 0; life < 4; ++life) {  // later arenas get memory that earlier ones wrote
    arena a({.payload_bytes = 40, .payload_align = 32});
    ASSERT_TRUE(a.add_segment(0, base, 4 * MiB));
    std::vector<arena::node*> live;
    while (arena::node* n = a.allocate(256)) {
      void* payload = a.payload(n);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(payload) % 32, 0u);
      ASSERT_EQ(arena::node_of(payload), n);
      const char zero[40] = {};
      ASSERT_EQ(std::memcmp(payload, zero, sizeof zero), 0);
      std::memset(payload, static_cast<int>(live.size() % 251 + 1), sizeof zero);
      live.push_back(n);
    }
    ASSERT_GT(live.size(), 3u * 4096);  // several slabs
    for (std::size_t i = 0; i < live.size(); ++i) {
      char expected[40];
      std::memset(expected, static_cast<int>(i % 251 + 1), sizeof expected);
      ASSERT_EQ(std::memcmp(a.payload(live[i]), expected, sizeof expected), 0) << i;
      give_back(a, live[i]);
    }
  }
}

}  // namespace
}  // namespace troupe
