// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/waiting/milestone.hpp>

namespace troupe {
namespace {

ref<pending_state<void>> answer_of(milestone& m) {
  auto made = ref<pending_state<void>>::adopt(new pending_state<void>(nullptr));
  m.answer(made);
  return made;
}

TEST(a_milestone, answers_waiters_from_before_and_after_it_is_reached) {
  milestone m;
  const auto before = answer_of(m);
  EXPECT_FALSE(before->done());
  m.reach({});
  EXPECT_TRUE(before->take());
  EXPECT_TRUE(answer_of(m)->take());
}

TEST(a_milestone, keeps_its_first_outcome) {
  milestone m;
  m.reach(error(reaction::fatal, "test", "first"));
  m.reach({});
  const result<void> got = answer_of(m)->take();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "first");
}

TEST(a_milestone, can_be_reached_again_after_a_reset) {
  milestone m;
  m.reach(error(reaction::fatal, "test", "first"));
  m.reset();
  const auto again = answer_of(m);
  EXPECT_FALSE(again->done());
  m.reach({});
  EXPECT_TRUE(again->take());
}

}  // namespace
}  // namespace troupe
