// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/device/completion/download_tracker.hpp>

namespace troupe {
namespace {

using answer = ref<pending_state<void>>;

class a_download_tracker : public testing::Test {
 protected:
  answer after(std::uint64_t ticket, const result<void>& with = {}) {
    auto made = answer::adopt(new pending_state<void>(nullptr));
    all.answer_after(ticket, with, made);
    return made;
  }

  copy_threads alone{0};
  download_tracker all{alone};
};

TEST_F(a_download_tracker, answers_at_once_if_no_download_is_in_flight) {
  EXPECT_FALSE(all.under_way());
  EXPECT_TRUE(after(100)->take());
}

TEST_F(a_download_tracker, answers_once_every_download_with_a_smaller_ticket_has_ended) {
  all.begin(3);
  all.begin(7);
  all.begin(9);
  const answer at_8 = after(8), at_3 = after(3);
  EXPECT_TRUE(at_3->done()) << "no download has a smaller ticket";
  all.end(7);
  EXPECT_FALSE(at_8->done());
  all.end(3);
  EXPECT_TRUE(at_8->done());
  EXPECT_TRUE(all.under_way());
  all.end(9);
  EXPECT_FALSE(all.under_way());
}

TEST_F(a_download_tracker, answers_with_the_given_result) {
  all.begin(1);
  const answer failed = after(2, error(reaction::retry_later, "test", "the reason"));
  all.end(1);
  const result<void> got = failed->take();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text(), "the reason");
}

TEST_F(a_download_tracker, ignores_the_end_of_a_download_that_never_began) {
  all.begin(1);
  const answer waiting = after(2);
  all.end(5);
  EXPECT_FALSE(waiting->done());
  EXPECT_TRUE(all.under_way());
}

}  // namespace
}  // namespace troupe
