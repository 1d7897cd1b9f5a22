// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/base/hash/fnv.hpp>

namespace troupe {
namespace {

// The published values: http://www.isthe.com/chongo/tech/comp/fnv
TEST(fnv1a, matches_the_published_values) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(fnv1a, continues_from_an_earlier_hash) { EXPECT_EQ(fnv1a(fnv1a("foo"), "bar"), fnv1a("foobar")); }

}  // namespace
}  // namespace troupe
