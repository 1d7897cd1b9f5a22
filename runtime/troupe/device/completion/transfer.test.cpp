// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <troupe/device/completion/transfer.hpp>
#include <vector>

namespace troupe {
namespace {

struct nobody final : memory_owner {
  void recycle(block&) noexcept override {}
  std::optional<error> stale_cause(const block&, std::uint64_t, std::uint64_t) const override { return {}; }
  void mark_refused(block&, std::uint64_t, std::uint64_t, const error&) override {}
  block_ref failed_buffer(std::uint64_t, error) override { return {}; }
};

// A worker claims to have filled chunks of a download that it has not begun. The next worker fills them from the start.
TEST(transfer, restarts_from_the_first_chunk_with_another_worker) {
  const staging_plan plan = staging_plan::for_bytes(3 << 18);
  ASSERT_EQ(plan.count(), 3u);
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> memory(plan.block_bytes() / 64);
  auto& h = *std::construct_at(reinterpret_cast<staging_header*>(memory.data()));
  nobody owner;
  copy_threads alone(0);
  block staging;
  staging.owner = &owner;
  staging.host = memory.data()->bytes;
  staging.references.store(1);
  std::vector<std::byte> to(plan.bytes);
  auto answer = ref<pending_state<void>>::adopt(new pending_state<void>(nullptr));
  transfer t(block_ref(&staging), plan, to.data(), answer, [](pending_core&, const error*) noexcept {});
  const auto fill = [&](std::uint64_t i, int with) {
    std::memset(plan.chunk(&h, i), with, plan.size(i));
    h.filled.store(i + 1);
    return t.advance(alone);
  };
  EXPECT_EQ(fill(0, 0xee), transfer::progress::waits);
  EXPECT_EQ(fill(1, 0xee), transfer::progress::waits);
  t.begin_again();
  EXPECT_EQ(h.filled.load(), 0u);
  EXPECT_EQ(h.emptied.load(), 0u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(fill(i, 7), transfer::progress::waits);
  t.request_answered({});
  EXPECT_EQ(t.advance(alone), transfer::progress::finished);
  EXPECT_EQ(to, std::vector<std::byte>(plan.bytes, std::byte{7}));
  t.begin_again();
  EXPECT_EQ(t.advance(alone), transfer::progress::waits) << "the transfer has finished";
}

}  // namespace
}  // namespace troupe
