// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/async/accepted.hpp>

namespace troupe {
namespace {

struct full_receiver final : refuser {
  error explain(refusal why) const override {
    return error(reaction::retry_later, "test", why == refusal::full ? "full" : "something else");
  }
  void add_ref() const noexcept override { ++references; }
  void release() const noexcept override { --references; }
  mutable int references = 1;
};

TEST(accepted_request, converts_to_true_and_has_a_ticket) {
  const accepted taken(17);
  EXPECT_TRUE(taken);
  EXPECT_EQ(taken.ticket(), 17u);
  EXPECT_TRUE(accepted()) << "a message to an actor, which has no ticket";
}

TEST(accepted_request, keeps_the_error_of_a_refusal_when_it_is_copied) {
  const accepted refused(error(reaction::caller_bug, "test", "a reason that is too long for a string's own buffer"));
  const accepted copy = refused;
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.ticket(), 0u);
  EXPECT_EQ(copy.error().text(), "a reason that is too long for a string's own buffer");
}

TEST(accepted_request, makes_the_error_of_a_refusal_only_when_it_is_read) {
  full_receiver by;
  {
    const accepted refused(refusal::full, &by);
    EXPECT_FALSE(refused);
    EXPECT_EQ(by.references, 2);
    EXPECT_EQ(refused.error().text(), "full");
  }
  EXPECT_EQ(by.references, 1);
}

TEST(accepted_request, reports_an_empty_reference_as_a_caller_bug) {
  EXPECT_EQ(accepted(refusal::empty, nullptr).error().reaction(), reaction::caller_bug);
}

}  // namespace
}  // namespace troupe
