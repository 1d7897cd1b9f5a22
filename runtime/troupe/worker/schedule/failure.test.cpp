// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/request/request.hpp>
#include <troupe/worker/schedule/failure.hpp>

namespace troupe {
namespace {

using progress = std::array<std::uint64_t, max_lanes>;

failure_log::entry failed(position at, std::uint64_t number) {
  return {at, number, std::make_shared<failure>(failure{.text = std::to_string(number)}), {}};
}

std::vector<std::uint64_t> harvested(failure_log& log, const progress& issued) {
  std::vector<std::uint64_t> numbers;
  log.harvest(issued, [&](const failure_log::entry& e) { numbers.push_back(e.number); });
  return numbers;
}

TEST(failure, names_at_most_max_chain_requests_that_it_reached) {
  failure_ptr f = std::make_shared<failure>(failure{.first = {"first", 1}});
  for (std::uint64_t ticket = 2; ticket < 1000; ++ticket) f = passed_on(f, {"step", ticket});
  ASSERT_EQ(f->chain.size(), max_chain);
  for (std::uint64_t i = 0; i < max_chain; ++i) EXPECT_EQ(f->chain[i].ticket, 2 + i);
  EXPECT_EQ(f->first.name, "first");
}

TEST(failure_log, harvests_each_failure_once_and_keeps_it_while_an_operation_can_ask_for_it) {
  failure_log log;
  EXPECT_TRUE(log.empty());
  log.add(failed({0, 3}, 1));
  log.add(failed({1, 5}, 2));
  EXPECT_EQ(harvested(log, {4, 5}), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(harvested(log, {4, 5}), (std::vector<std::uint64_t>{}));
  log.add(failed({0, 4}, 3));
  EXPECT_EQ(harvested(log, {6, 5}), (std::vector<std::uint64_t>{3}));
  log.add(failed({0, 7}, 4));  // not harvested yet

  log.prune(progress{3, 5});  // operation 4 of lane 0, issued before the first harvest, may still ask
  for (const position p : {position{0, 3}, position{1, 5}, position{0, 4}, position{0, 7}})
    ASSERT_TRUE(log.find(p)) << p.lane << ":" << p.sequence;
  EXPECT_EQ(log.find({0, 4})->text, "3");
  log.prune(progress{4, 5});
  EXPECT_FALSE(log.find({0, 3}));
  EXPECT_FALSE(log.find({1, 5}));
  EXPECT_TRUE(log.find({0, 4}));
  log.prune(progress{9, 9});
  EXPECT_FALSE(log.find({0, 4}));
  EXPECT_TRUE(log.find({0, 7})) << "the pump has not seen it";
  EXPECT_FALSE(log.empty());
  EXPECT_EQ(harvested(log, {9, 9}), (std::vector<std::uint64_t>{4}));
  log.prune(progress{9, 9});
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace troupe
