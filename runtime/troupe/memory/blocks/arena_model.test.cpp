// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <troupe/memory/blocks/arena.hpp>
#include <utility>
#include <vector>

namespace troupe {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::uint64_t base = 0x2000'0000'0000;

/// Returns the seeds to run: only TROUPE_SEED if it is set.
std::vector<std::uint64_t> seeds(std::vector<std::uint64_t> usual) {
  const char* given = std::getenv("TROUPE_SEED");
  return given ? std::vector<std::uint64_t>{std::strtoull(given, nullptr, 0)} : usual;
}

std::uint64_t log_uniform(std::mt19937_64& random, double low, double high) {
  return static_cast<std::uint64_t>(std::exp2(std::uniform_real_distribution(std::log2(low), std::log2(high))(random)));
}

// Property test against a naive model
// -------------------------------------------------------------------------------------

struct live_range {
  arena::node* node;
  std::uint64_t address, bytes;
  arena::segment_id segment;
};

/// An arena together with a naive model: a sorted map of its ranges.
class modelled {
 public:
  modelled(std::uint64_t granule, std::uint64_t seed)
      : granule_(granule), random_(seed), arena_({.granule = granule, .payload_bytes = 24, .payload_align = 8}) {}

  void run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
      if (i % 4096 == 0) growing_ = !growing_;
      const std::uint64_t dice = random_() % 1000;
      if (dice < 10)
        add_segment();
      else if (dice < 20)
        remove_segment();
      else if (dice < (growing_ ? 600u : 420u))
        allocate();
      else
        free(random_() % std::max<std::size_t>(live_.size(), 1));
      if (i % 16 == 0 || live_.size() < 16) compare();
      if (i % 50'000 == 49'999) free_all();
    }
    free_all();
  }

 private:
  struct segment {
    arena::segment_id id;
    std::uint64_t bytes;
  };

  /// Returns the free ranges, found by a scan of all segments.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const auto& [address, s] : segments_) {
      std::uint64_t at = address;
      for (auto u = used_.lower_bound(address); u != used_.end() && u->first < address + s.bytes; ++u) {
        if (u->first > at) found.emplace_back(at, u->first - at);
        at = u->first + u->second;
      }
      if (at < address + s.bytes) found.emplace_back(at, address + s.bytes - at);
    }
    return found;
  }

  bool overlaps_a_segment(std::uint64_t address, std::uint64_t bytes) const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [&](const auto& s) { return address < s.first + s.second.bytes && s.first < address + bytes; });
  }

  void add_segment() {
    if (segments_.size() >= 12) return;
    const std::uint64_t bytes = log_uniform(random_, 64 * KiB, 8 * MiB) / granule_ * granule_;
    std::uint64_t address = base + random_() % (256 * MiB) / granule_ * granule_;
    if (!segments_.empty() && random_() % 2)
      address = segments_.begin()->first + segments_.begin()->second.bytes;  // adjacent to the first segment
    const arena::segment_id id = static_cast<arena::segment_id>(random_() % 20);
    const bool taken =
        std::any_of(segments_.begin(), segments_.end(), [id](const auto& s) { return s.second.id == id; });
    const bool possible = bytes != 0 && !taken && !overlaps_a_segment(address, bytes);
    ASSERT_EQ(static_cast<bool>(arena_.add_segment(id, address, bytes)), possible);
    if (possible) segments_[address] = {id, bytes};
  }

  bool idle(std::uint64_t address, std::uint64_t bytes) const {
    const auto u = used_.lower_bound(address);
    return u == used_.end() || u->first >= address + bytes;
  }

  void remove_segment() {
    if (segments_.empty()) return;
    const auto s = std::next(segments_.begin(), static_cast<long>(random_() % segments_.size()));
    const bool possible = idle(s->first, s->second.bytes);
    ASSERT_EQ(arena_.remove_segment(s->second.id), possible);
    if (possible) segments_.erase(s);
  }

  void allocate() {
    std::uint64_t bytes = log_uniform(random_, 1, 1.0 * MiB), alignment = 1;
    if (random_() % 4 == 0) bytes = std::uint64_t{1} << random_() % 21;
    if (random_() % 4 == 0) alignment = std::uint64_t{1} << random_() % 22;
    const std::uint64_t need = (bytes + granule_ - 1) / granule_ * granule_;
    const std::uint64_t step = std::max(alignment, granule_);
    arena::node* n = arena_.allocate(bytes, alignment);
    if (!n) {
      const double enough = 33.0 / 32 * static_cast<double>(need + step - granule_);
      for (const auto& [address, size] : gaps())
        ASSERT_LT(static_cast<double>(size), enough)
            << "refused " << bytes << " at " << alignment << " beside " << address;
      return;
    }
    const std::uint64_t at = n->address();
    ASSERT_EQ(n->bytes(), need);
    ASSERT_EQ(at % step, 0u);
    auto s = segments_.upper_bound(at);
    ASSERT_NE(s, segments_.begin()) << "below every segment: " << at;
    --s;
    ASSERT_LE(at + need, s->first + s->second.bytes) << "above its segment";
    ASSERT_EQ(n->segment(), s->second.id);
    const auto next = used_.lower_bound(at);
    ASSERT_TRUE(next == used_.end() || at + need <= next->first) << "overlaps " << next->first;
    ASSERT_TRUE(next == used_.begin() || std::prev(next)->first + std::prev(next)->second <= at)
        << "overlaps the range below";
    used_[at] = need;
    used_bytes_ += need;
    high_water_ = std::max(high_water_, used_bytes_);
    std::memcpy(arena_.payload(n), &at, sizeof at);
    live_.push_back({n, at, need, s->second.id});
  }

  void free(std::size_t i) {
    if (live_.empty()) return;
    const live_range r = live_[i];
    ASSERT_EQ(r.node->address(), r.address);
    ASSERT_EQ(r.node->bytes(), r.bytes);
    ASSERT_EQ(r.node->segment(), r.segment);
    ASSERT_EQ(std::memcmp(arena_.payload(r.node), &r.address, sizeof r.address), 0);
    ASSERT_EQ(arena_.free(r.node), arena::freed::yes);
    used_.erase(r.address);
    used_bytes_ -= r.bytes;
    live_[i] = live_.back();
    live_.pop_back();
  }

  void free_all() {
    while (!live_.empty() && !testing::Test::HasFatalFailure()) free(random_() % live_.size());
    compare();
    ASSERT_EQ(arena_.statistics().free_ranges, segments_.size());
    ASSERT_EQ(arena_.idle_segments().size(), segments_.size());
  }

  void compare() const {
    const arena_statistics s = arena_.statistics();
    std::uint64_t reserved = 0, largest = 0;
    for (const auto& [address, x] : segments_) reserved += x.bytes;
    const auto free = gaps();
    for (const auto& [address, bytes] : free) largest = std::max(largest, bytes);
    ASSERT_EQ(s.segments, segments_.size());
    ASSERT_EQ(s.reserved_bytes, reserved);
    ASSERT_EQ(s.used_bytes, used_bytes_);
    ASSERT_EQ(s.high_water_bytes, high_water_);
    ASSERT_EQ(s.live_ranges, live_.size());
    ASSERT_EQ(s.free_ranges, free.size());
    ASSERT_EQ(s.largest_free_bytes, largest);
  }

  std::uint64_t granule_;
  std::mt19937_64 random_;
  arena arena_;
  bool growing_ = false;
  std::map<std::uint64_t, segment> segments_;
  std::map<std::uint64_t, std::uint64_t> used_;
  std::vector<live_range> live_;
  std::uint64_t used_bytes_ = 0, high_water_ = 0;
};

TEST(arena_model, agrees_with_a_naive_model_through_200000_random_operations) {
  for (std::uint64_t seed : seeds({1, 2, 3, 0x7e57, 20260101}))
    for (std::uint64_t granule : {256u, 16u, 4096u}) {
      SCOPED_TRACE("granule " + std::to_string(granule) + "; again with TROUPE_SEED=" + std::to_string(seed));
      modelled(granule, seed).run(granule == 256 ? 200'000 : 40'000);
      if (HasFatalFailure()) return;
    }
}

// Fragmentation
// -----------------------------------------------------------------------------------------------------------

TEST(arena_model, reserves_little_more_than_is_used_after_many_allocations_of_mixed_sizes) {
  for (std::uint64_t seed : seeds({1, 2})) {
    SCOPED_TRACE("again with TROUPE_SEED=" + std::to_string(seed));
    constexpr std::size_t count = 100'000;
    constexpr std::uint64_t segment_bytes = 64 * MiB;
    std::mt19937_64 random(seed);
    arena a;
    arena::segment_id next = 0;
    const auto take = [&] {
      const std::uint64_t bytes = log_uniform(random, 256, 1.0 * MiB);
      arena::node* n = a.allocate(bytes);
      if (!n) {
        EXPECT_TRUE(a.add_segment(next, base + next * segment_bytes, segment_bytes));
        ++next;
        n = a.allocate(bytes);
      }
      return n;
    };
    std::vector<arena::node*> live(count);
    for (arena::node*& n : live) n = take();
    for (int i = 0; i < 1'000'000; ++i) {
      arena::node*& n = live[random() % count];
      ASSERT_EQ(a.free(n), arena::freed::yes);
      n = take();
      ASSERT_TRUE(n);
    }
    const arena_statistics s = a.statistics();
    const double ratio = static_cast<double>(s.reserved_bytes) / static_cast<double>(s.used_bytes);
    std::printf("[ figures  ] reserved / used %.3f with %llu live ranges, %llu free ones, fragmentation %.3f\n", ratio,
                static_cast<unsigned long long>(s.live_ranges), static_cast<unsigned long long>(s.free_ranges),
                s.fragmentation());
    EXPECT_LT(ratio, 1.15);
    for (arena::node* n : live) ASSERT_EQ(a.free(n), arena::freed::yes);
    EXPECT_EQ(a.statistics().free_ranges, a.statistics().segments);
  }
}

}  // namespace
}  // namespace troupe
