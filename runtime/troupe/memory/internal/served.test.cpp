// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <troupe/memory/internal/served.hpp>

namespace troupe::memory {
namespace {

TEST(failed_unseal, replaces_the_worker_and_keeps_its_error_text) {
  const auto failed = or_replaced(error::from_errno(reaction::retry_later, "memory", "mprotect of 4096 bytes", ENOMEM));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().reaction(), reaction::context_lost);
  EXPECT_EQ(failed.error().code(), ENOMEM);
  EXPECT_NE(failed.error().text().find("mprotect of 4096 bytes"), std::string::npos) << failed.error().text();
  EXPECT_TRUE(or_replaced({}));
}

}  // namespace
}  // namespace troupe::memory
