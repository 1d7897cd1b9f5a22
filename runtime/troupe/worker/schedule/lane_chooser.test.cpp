// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <troupe/worker/schedule/lane_chooser.hpp>

namespace troupe {
namespace {

// Lanes with a number of incomplete operations each, and a last operation.
struct some_lanes {
  std::uint64_t (*of)(std::uint32_t lane) = [](std::uint32_t) { return std::uint64_t{0}; };
  std::uint64_t last = 1;
  std::uint64_t backlog(std::uint32_t lane) const { return of(lane); }
  bool is_last(position p) const { return p.sequence == last; }
};
const some_lanes idle;

wait_list waits_for(std::initializer_list<std::uint32_t> lanes) {
  wait_list out;
  for (const std::uint32_t l : lanes) out.add({l, 1});
  return out;
}

constexpr std::uint32_t kinds[] = {troupe_lane_library, troupe_lane_upload, troupe_lane_download};

TEST(lane_chooser, gives_high_and_low_priority_lanes_of_their_own) {
  for (const auto policy : {lane_policy::per_actor, lane_policy::pooled, lane_policy::single})
    for (std::uint32_t helpers = 1; helpers <= 4; ++helpers) {
      lane_chooser chooser(policy, 8, helpers);
      std::set<std::uint32_t> normal;
      for (std::uint32_t library = 0; library < 30; ++library)
        for (const std::uint32_t kind : kinds) {
          normal.insert(chooser.choose({kind, priority::normal, library}, {}, idle));
          EXPECT_EQ(chooser.choose({kind, priority::high, library}, {}, idle), chooser.high());
          EXPECT_EQ(chooser.choose({kind, priority::low, library}, {}, idle), chooser.low());
        }
      EXPECT_FALSE(normal.contains(chooser.high()));
      EXPECT_FALSE(normal.contains(chooser.low()));
      EXPECT_LT(chooser.low(), max_lanes - helpers) << "the helpers' lanes come last";
      EXPECT_EQ(chooser.streams(), chooser.low() + 1);
    }
}

TEST(lane_chooser, leaves_slow_work_to_the_helpers_whatever_its_priority) {
  lane_chooser chooser(lane_policy::per_actor, 4, 2);
  const some_lanes first_is_busy{[](std::uint32_t lane) { return std::uint64_t{lane == max_lanes - 2 ? 5u : 0u}; }};
  for (const priority p : {priority::normal, priority::high}) {
    EXPECT_EQ(chooser.choose({troupe_lane_helper, p, 0}, {}, idle), max_lanes - 2);
    EXPECT_EQ(chooser.choose({troupe_lane_helper, p, 0}, {}, first_is_busy), max_lanes - 1);
  }
  EXPECT_EQ(chooser.choose({troupe_lane_helper, priority::low, 0}, {}, idle), max_lanes - 1);
}

TEST(lane_chooser, puts_a_request_that_follows_on_the_lane_that_it_waits_for) {
  lane_chooser chooser(lane_policy::per_actor, 4, 2);
  const auto behind = [&](std::initializer_list<std::uint32_t> lanes, const some_lanes& how) {
    return chooser.choose({troupe_lane_behind, priority::normal, 3}, waits_for(lanes), how);
  };
  const std::uint32_t own = lane_chooser::first_compute + 3;
  for (const std::uint32_t l : {lane_chooser::upload, lane_chooser::download, 4u, chooser.high(), chooser.low()})
    EXPECT_EQ(behind({l}, idle), l);
  EXPECT_EQ(behind({4, 6}, idle), own) << "neither lane may hold up the other";
  EXPECT_EQ(behind({max_lanes - 1}, idle), own) << "a helper has no stream";
  const some_lanes busy_but{[](std::uint32_t lane) { return std::uint64_t{lane == 7 ? 0u : 3u}; }};
  EXPECT_EQ(behind({}, busy_but), 7u) << "it waits for nothing";
}

TEST(lane_chooser, keeps_a_chain_on_one_stream_if_it_delays_nothing_else) {
  lane_chooser chooser(lane_policy::per_actor, 4, 2);
  constexpr std::uint32_t blas = 3, jit = 4, blas_lane = lane_chooser::first_compute + blas;
  const std::uint32_t jit_lane = lane_chooser::first_compute + jit;
  const auto kernel = [&](std::initializer_list<std::uint32_t> lanes, const some_lanes& how = idle) {
    return chooser.choose({troupe_lane_anywhere, priority::normal, jit, true}, waits_for(lanes), how);
  };
  const auto copy = [&](std::uint32_t kind, std::initializer_list<std::uint32_t> lanes, const some_lanes& how = idle) {
    return chooser.choose({kind, priority::normal, 0, true}, waits_for(lanes), how);
  };
  EXPECT_EQ(chooser.choose({troupe_lane_library, priority::normal, blas}, {}, idle), blas_lane);
  EXPECT_EQ(kernel({blas_lane}), blas_lane);
  EXPECT_EQ(copy(troupe_lane_download, {blas_lane}), blas_lane);
  EXPECT_EQ(copy(troupe_lane_upload, {}), blas_lane) << "what uses it may well follow there";

  EXPECT_EQ(kernel({blas_lane}, {.last = 2}), jit_lane) << "something else follows that";
  EXPECT_EQ(kernel({blas_lane, jit_lane + 1}), jit_lane);
  EXPECT_EQ(kernel({lane_chooser::upload}), jit_lane) << "later uploads must not wait for a kernel";
  EXPECT_EQ(kernel({max_lanes - 1}), jit_lane) << "a helper has no stream";
  EXPECT_EQ(kernel({}), jit_lane) << "it depends on nothing, so it can run beside everything";
  EXPECT_EQ(chooser.choose({troupe_lane_anywhere, priority::normal, jit, false}, waits_for({blas_lane}), idle),
            jit_lane);
  EXPECT_EQ(chooser.choose({troupe_lane_anywhere, priority::high, jit, true}, waits_for({blas_lane}), idle),
            chooser.high());
  const some_lanes busy{[](std::uint32_t) { return std::uint64_t{1}; }};
  EXPECT_EQ(copy(troupe_lane_upload, {}, busy), lane_chooser::upload);
  EXPECT_EQ(copy(troupe_lane_download, {blas_lane, lane_chooser::upload}), lane_chooser::download);
}

TEST(lane_chooser, returns_the_purpose_of_each_lane) {
  const lane_chooser chooser(lane_policy::pooled, 3, 1);
  const lane_purpose expected[] = {lane_purpose::upload,  lane_purpose::download, lane_purpose::compute,
                                   lane_purpose::compute, lane_purpose::compute,  lane_purpose::high,
                                   lane_purpose::low};
  for (std::uint32_t lane = 0; lane < max_lanes; ++lane)
    EXPECT_EQ(chooser.purpose_of(lane), lane < std::size(expected) ? expected[lane]
                                        : lane == max_lanes - 1    ? lane_purpose::helper
                                                                   : lane_purpose::none)
        << "lane " << lane;
}

}  // namespace
}  // namespace troupe
