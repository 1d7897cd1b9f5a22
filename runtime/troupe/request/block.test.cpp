// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/request/block.hpp>
#include <utility>

namespace troupe {
namespace {

class block_refs : public ::testing::Test, public memory_owner {
 public:
  void recycle(block& b) noexcept override { recycled_ += &b == &first_ ? 1 : 10; }
  std::optional<error> stale_cause(const block&, std::uint64_t, std::uint64_t) const override { return {}; }
  void mark_refused(block&, std::uint64_t, std::uint64_t, const error&) override {}
  block_ref failed_buffer(std::uint64_t, error) override { return {}; }

 protected:
  block_refs() { first_.owner = second_.owner = this; }
  // Sets the count to 1, and returns that reference.
  block_ref only(block& b) {
    b.references = 1;
    return block_ref(&b);
  }

  block first_, second_;
  int recycled_ = 0;  // 1 for each time that the first block was recycled, 10 for the second block
};

TEST_F(block_refs, release_their_block_when_they_are_assigned_another) {
  block_ref a = only(first_);
  const block_ref b = only(second_);
  a = b;
  EXPECT_EQ(recycled_, 1);
  EXPECT_EQ(a.get(), &second_);
  EXPECT_EQ(second_.references, 2u);
  a = block_ref();
  EXPECT_EQ(second_.references, 1u);
  EXPECT_EQ(recycled_, 1);
}

TEST_F(block_refs, keep_their_block_when_they_are_assigned_themselves) {
  block_ref a = only(first_);
  const block_ref& same = a;
  a = same;
  EXPECT_EQ(a.get(), &first_);
  EXPECT_EQ(first_.references, 1u);
  block_ref& also = a;
  a = std::move(also);
  EXPECT_EQ(a.get(), &first_);
  EXPECT_EQ(first_.references, 1u);
  const block_ref b = a;
  a = b;  // another reference to the same block
  EXPECT_EQ(first_.references, 2u);
  EXPECT_EQ(recycled_, 0);
}

TEST_F(block_refs, pass_on_their_reference_when_they_are_moved) {
  block_ref a = only(first_), b = only(second_);
  b = std::move(a);
  EXPECT_EQ(recycled_, 10);
  EXPECT_EQ(b.get(), &first_);
  EXPECT_EQ(a.get(), nullptr);
  EXPECT_EQ(first_.references, 1u);
  b.reset();
  EXPECT_EQ(recycled_, 11);
}

}  // namespace
}  // namespace troupe
