// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <memory>
#include <troupe/memory/testing/device_memory_fixture.hpp>

namespace troupe::memory_tests {
namespace {

// Segments in memory of this process, so that threads can write the blocks they get.
struct own_memory final : segment_source {
  result<segment> grow(memory_kind, std::uint64_t bytes, file_descriptor) override {
    auto all = std::make_shared<std::vector<std::byte>>(bytes + 256);
    const auto begin = round_up(reinterpret_cast<std::uint64_t>(all->data()), 256);
    ++segments;
    return segment{begin, bytes, reinterpret_cast<std::byte*>(begin), std::move(all)};
  }
  void shrink(memory_kind, const segment&) noexcept override { --segments; }
  void protect(std::uint64_t, std::uint64_t, bool, std::uint32_t) noexcept override {}
  std::uint64_t last_ticket() const noexcept override { return 0; }
  int segments = 0;
};

class blocks_of_uploads : public testing::Test {
 protected:
  ~blocks_of_uploads() override {
    if (memory_ != nullptr) memory_->abandon();
  }
  block_ref take(std::uint64_t bytes) { return memory_->allocate_for_upload(bytes).value(); }
  memory_statistics now() const { return memory_->statistics(memory_kind::host); }

  own_memory source_;
  device_memory* memory_ = device_memory::make(source_, {.device_bytes = 1 << 20, .host_bytes = 2 << 20});
};

TEST_F(blocks_of_uploads, are_reused_for_uploads_of_the_same_size_class) {
  block_ref b = take(4000);
  EXPECT_EQ(b->bytes, 4000u);
  EXPECT_TRUE(b->of_one_upload);
  const std::uint64_t at = b->address;
  b.reset();
  b = take(2049);
  EXPECT_EQ(b->address, at) << "both take 4096 bytes";
  EXPECT_EQ(b->bytes, 2049u);
  EXPECT_TRUE(b->of_one_upload);
  EXPECT_EQ(b->references.load(), 1u);
  EXPECT_NE(take(2048)->address, at);
}

TEST_F(blocks_of_uploads, count_as_free_while_they_are_kept) {
  const auto expect = [this](std::uint64_t buffers, std::uint64_t bytes) {
    EXPECT_EQ(now().live_buffers, buffers);
    EXPECT_EQ(now().used_bytes, bytes);
    EXPECT_EQ(now().free_bytes, now().total_bytes - bytes);
  };
  block_ref first = take(300), second = take(16 << 10);
  expect(2, 512 + (16 << 10));
  first.reset();
  expect(1, 16 << 10);
  second.reset();
  expect(0, 0);
  first = take(512);
  expect(1, 512);
  EXPECT_EQ(now().allocations, 3u);
}

TEST_F(blocks_of_uploads, are_not_kept_if_they_are_larger_than_the_limit) {
  take((16 << 10) + 1).reset();
  EXPECT_TRUE(take((16 << 10) + 1)->of_one_upload);
  memory_->trim();
  EXPECT_EQ(source_.segments, 0);
}

TEST_F(blocks_of_uploads, are_freed_when_other_memory_is_needed) {
  std::vector<block_ref> all;
  for (int i = 0; i < 128; ++i) all.push_back(take(16 << 10));
  EXPECT_FALSE(memory_->allocate_for_upload(1)) << "all 2 MiB are in use";
  all.clear();
  const auto whole = memory_->allocate(memory_kind::host, 2 << 20, 256, {});
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_FALSE((*whole)->of_one_upload);
}

TEST_F(blocks_of_uploads, take_just_their_bytes_if_a_whole_size_class_does_not_fit) {
  const block_ref most = memory_->allocate(memory_kind::sent, (2 << 20) - 1280, 1, {}).value();
  const block_ref b = take(1100);
  EXPECT_EQ(b->bytes, 1100u);
  EXPECT_TRUE(b->of_one_upload);
}

TEST_F(blocks_of_uploads, are_ordinary_memory_after_they_were_given_back) {
  take(4096).reset();
  memory_->trim();
  EXPECT_EQ(source_.segments, 0);
  const block_ref b = memory_->allocate(memory_kind::sent, 4096, 1, {}).value();
  EXPECT_FALSE(b->of_one_upload);
}

TEST_F(blocks_of_uploads, may_be_released_after_the_device_was_closed) {
  block_ref late = take(100);
  take(200).reset();
  std::exchange(memory_, nullptr)->abandon();
  late.reset();  // deletes the memory: a sanitizer would report a leak or a second deletion
}

// One thread's blocks are released by another, as those of uploads are.
TEST_F(blocks_of_uploads, are_never_given_to_two_threads_at_a_time) {
  constexpr int threads = 4, rounds = 20'000;
  struct hand_over {
    std::atomic<block*> slots[16]{};
  };
  std::vector<hand_over> between(threads);
  std::atomic<int> wrong{0}, senders{threads};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        const auto made = memory_->allocate_for_upload(64);
        if (!made) continue;  // the other thread is slow
        const int value = t * rounds + i;
        std::memcpy((*made)->host, &value, sizeof value);
        block_ref mine = *made;
        block* const raw = mine.get();
        raw->references.fetch_add(1);
        auto& slot = between[static_cast<std::size_t>(t)].slots[i % 16];
        block* none = nullptr;
        while (!slot.compare_exchange_weak(none, raw)) {
          none = nullptr;
          std::this_thread::yield();
        }
        int now = 0;
        std::memcpy(&now, raw->host, sizeof now);
        if (now != value) ++wrong;
      }
      --senders;
    });
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      while (true) {
        const bool last = senders.load() == 0;
        bool any = false;
        for (auto& slot : between[static_cast<std::size_t>(t)].slots)
          if (block* const b = slot.exchange(nullptr)) {
            any = true;
            block_ref(b).reset();
          }
        if (last && !any) return;
        if (!any) std::this_thread::yield();
      }
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(now().live_buffers, 0u);
}

}  // namespace
}  // namespace troupe::memory_tests
