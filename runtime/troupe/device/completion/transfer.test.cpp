// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>
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

// The worker's side of a download of `bytes`, and the destination in this process.
class a_transfer : public testing::Test {
 protected:
  struct alignas(64) line {
    std::byte bytes[64];
  };

  void begin(const staging_plan& of, std::uint64_t piece_bytes) {
    plan = of;
    memory.resize(plan.block_bytes() / sizeof(line) + 1);
    header = std::construct_at(reinterpret_cast<staging_header*>(memory.data()));
    staging.owner = &owner;
    staging.host = memory.data()->bytes;
    staging.references.store(1);
    to.assign(plan.bytes, std::byte{0});
    request = ref<pending_state<void>>::adopt(new pending_state<void>(nullptr));
    auto caller = ref<pending_core>::adopt(new pending_state<void>(nullptr));
    moving.emplace(block_ref(&staging), plan, piece_bytes, to.data(), request,
                   transfer::caller{std::move(caller), [](pending_core&, const error*) noexcept {}});
  }
  // Fills chunk i with a byte that differs between chunks.
  void fill(std::uint64_t i, int with) {
    std::memset(plan.chunk(header, i), with, plan.size(i));
    header->filled.store(i + 1);
  }

  nobody owner;
  copy_threads alone{0};
  staging_plan plan{};
  std::vector<line> memory;
  staging_header* header = nullptr;
  block staging;
  std::vector<std::byte> to;
  ref<pending_state<void>> request;
  std::optional<transfer> moving;
};

// A worker claims to have filled chunks that it has not filled. The next worker fills them from the start.
TEST_F(a_transfer, restarts_from_the_first_chunk_with_another_worker) {
  begin(staging_plan::for_bytes(3 << 18), 1 << 16);
  ASSERT_EQ(plan.count(), 3u);
  for (std::uint64_t i = 0; i < 2; ++i) {
    fill(i, 0xee);
    EXPECT_EQ(moving->advance(alone), transfer::progress::waits);
  }
  moving->begin_again();
  EXPECT_EQ(header->filled.load(), 0u);
  EXPECT_EQ(header->emptied.load(), 0u);
  for (std::uint64_t i = 0; i < 3; ++i) {
    fill(i, 7);
    EXPECT_EQ(moving->advance(alone), transfer::progress::waits);
  }
  moving->request_answered({});
  EXPECT_EQ(moving->advance(alone), transfer::progress::finished);
  EXPECT_EQ(to, std::vector<std::byte>(plan.bytes, std::byte{7}));
  moving->begin_again();
  EXPECT_EQ(moving->advance(alone), transfer::progress::waits) << "the transfer has finished";
}

// The thread that sent the request may not have noted the answer yet.
TEST_F(a_transfer, does_not_restart_once_its_request_is_answered) {
  begin(staging_plan::for_bytes(1 << 18), 1 << 16);
  fill(0, 7);
  request->complete({});
  moving->begin_again();
  moving->request_answered({});
  EXPECT_EQ(moving->advance(alone), transfer::progress::finished);
  EXPECT_EQ(to, std::vector<std::byte>(plan.bytes, std::byte{7}));
}

TEST_F(a_transfer, reports_a_counter_that_is_too_large_or_decreases_as_impossible) {
  const staging_plan short_of_room{.bytes = 8 * 64, .chunk_bytes = 64, .chunks = 2};
  for (const std::uint64_t lie : {3, 9, 1000}) {
    begin(short_of_room, 64);
    header->filled.store(lie);
    EXPECT_TRUE(moving->has_news()) << lie << ": nobody would look";
    EXPECT_EQ(moving->advance(alone), transfer::progress::impossible) << lie;
    EXPECT_EQ(to, std::vector<std::byte>(plan.bytes)) << lie;
  }
  begin(short_of_room, 64);
  header->filled.store(2);
  EXPECT_EQ(moving->advance(alone), transfer::progress::waits);
  header->filled.store(1);
  EXPECT_TRUE(moving->has_news());
  EXPECT_EQ(moving->waiting_pieces(), 0u) << "no helper can take one";
  EXPECT_EQ(moving->advance(alone), transfer::progress::impossible) << "the counter went back";
}

TEST_F(a_transfer, reports_damaged_counters_as_impossible) {
  for (const bool filled : {true, false})
    for (const std::uint64_t word : {std::uint64_t{0}, UINT64_MAX, std::uint64_t{1}, checked_count::word_of(1) ^ 1}) {
      begin({.bytes = 8 * 64, .chunk_bytes = 64, .chunks = 2}, 64);
      fill(0, 7);
      EXPECT_EQ(moving->advance(alone), transfer::progress::waits);
      (filled ? header->filled : header->emptied).word().store(word);
      EXPECT_EQ(moving->has_news(), filled);
      EXPECT_EQ(moving->waiting_pieces(), 0u);
      EXPECT_EQ(moving->advance(alone), transfer::progress::impossible) << word;
    }
}

TEST_F(a_transfer, fails_if_the_worker_reports_success_with_chunks_missing) {
  begin({.bytes = 4 * 64, .chunk_bytes = 64, .chunks = 2}, 64);
  header->filled.store(1);
  moving->request_answered({});
  EXPECT_EQ(moving->advance(alone), transfer::progress::finished);
  EXPECT_EQ(header->emptied.load(), 1u);
}

// The worker's side runs on a thread of its own, and the destination is a few bytes shorter than whole pieces.
TEST_F(a_transfer, arrives_whole_with_helpers_and_several_driving_threads) {
  copy_threads helpers(2);
  for (int round = 0; round < 20; ++round) {
    begin({.bytes = 64 * 4096 - 5, .chunk_bytes = 4096, .chunks = 3}, 1024);
    std::thread worker([&] {
      for (std::uint64_t i = 0; i < plan.count(); ++i) {
        header->await([&] { return may_fill(*header, plan, i); });
        std::memset(plan.chunk(header, i), static_cast<int>(i + 1), plan.size(i));
        header->step(header->filled, i + 1);
      }
      moving->request_answered({});
    });
    std::atomic<int> finished{0};
    const auto drive = [&] {
      while (finished.load() == 0) {
        const transfer::progress how = moving->advance(helpers);
        if (how == transfer::progress::finished) ++finished;
        ASSERT_NE(how, transfer::progress::impossible);
      }
    };
    {
      const copy_threads::sharing shared(helpers, *moving);
      std::thread second(drive);
      drive();
      second.join();
      worker.join();
    }
    EXPECT_EQ(finished.load(), 1);
    for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], static_cast<std::byte>(i / 4096 + 1)) << i;
  }
}

}  // namespace
}  // namespace troupe
