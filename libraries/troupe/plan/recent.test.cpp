// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/plan/recent.hpp>

namespace troupe::plan {
namespace {

class plan_recent : public ::testing::Test {
 protected:
  // Returns the plan of a key: a number that counts the plans that were made. Returns -1 after a failure.
  int find(const std::string& key) {
    recent_.key() = key;
    const auto found = recent_.get(cache_, [this]() -> result<std::shared_ptr<int>> {
      if (fails_) return error(reaction::retry_later, "plan", "no memory");
      return std::make_shared<int>(++made_);
    });
    return found ? ***found : -1;
  }
  std::uint64_t hits() const { return cache_.count().hits; }

  cache<int> cache_{{.most = 1}};
  recent<int> recent_;
  int made_ = 0;
  bool fails_ = false;
};

TEST_F(plan_recent, the_plan_of_the_last_key_is_found_without_the_cache) {
  EXPECT_EQ(find("a"), 1);
  EXPECT_EQ(find("a"), 1);
  EXPECT_EQ(hits(), 0u);
  EXPECT_EQ(find("b"), 2);
  EXPECT_EQ(find("b"), 2);
  EXPECT_EQ(hits(), 0u);
}

TEST_F(plan_recent, a_plan_that_replaces_the_last_one_is_found) {
  EXPECT_EQ(find("a"), 1);
  cache_.put("a", std::make_shared<int>(7));
  EXPECT_EQ(find("a"), 7);
  cache_.drop_if([](std::string_view) { return true; });
  EXPECT_EQ(find("a"), 2);
}

TEST_F(plan_recent, a_plan_that_left_the_cache_is_used_until_it_is_dropped) {
  EXPECT_EQ(find("a"), 1);
  EXPECT_TRUE(cache_.get("b", [] { return result<std::shared_ptr<int>>(std::make_shared<int>(8)); }));
  EXPECT_FALSE(cache_.has("a"));
  EXPECT_EQ(find("a"), 1);
  cache_.drop("a", nullptr);
  EXPECT_EQ(find("a"), 2);
}

TEST_F(plan_recent, the_last_plan_stays_after_a_failure) {
  EXPECT_EQ(find("a"), 1);
  fails_ = true;
  EXPECT_EQ(find("b"), -1);
  EXPECT_EQ(find("a"), 1);
}

}  // namespace
}  // namespace troupe::plan
