// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/waiting/milestone.hpp>
#include <troupe/device/waiting/reactor_link.hpp>

namespace troupe {
namespace {

class a_milestone : public testing::Test {
 protected:
  ref<pending_state<void>> answer() {
    auto made = ref<pending_state<void>>::adopt(new pending_state<void>(nullptr));
    m.answer(answering(to_reactor_), made);
    return made;
  }
  void reach(const result<void>& outcome) { m.reach(answering(to_reactor_), outcome); }
  milestone m;

 private:
  shared_channel channel_;
  reactor_link to_reactor_{channel_};
};

TEST_F(a_milestone, answers_calls_from_before_and_after_it_is_reached) {
  const auto before = answer();
  EXPECT_FALSE(before->done());
  reach({});
  EXPECT_TRUE(before->take());
  EXPECT_TRUE(answer()->take());
}

TEST_F(a_milestone, keeps_its_first_outcome) {
  reach(error(reaction::fatal, "test", "first"));
  reach({});
  const result<void> got = answer()->take();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "first");
}

TEST_F(a_milestone, can_be_reached_again_after_a_reset) {
  reach(error(reaction::fatal, "test", "first"));
  m.reset();
  const auto again = answer();
  EXPECT_FALSE(again->done());
  reach({});
  EXPECT_TRUE(again->take());
}

}  // namespace
}  // namespace troupe
