// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <troupe/runtime/runtime.hpp>

namespace {

using namespace troupe;

// A thread that has waited for sync may free the memory that earlier downloads write to.
void downloads_arrive_before_sync(isolation where) {
  runtime rt;
  const device gpu = rt.open_device({.isolation = where});
  for (const std::size_t bytes : {70'000u, 300'000u, 3'000'000u}) {
    auto source = gpu.alloc<unsigned char>(bytes);
    std::vector<unsigned char> room(bytes);
    for (int i = 0; i < 150; ++i) {
      const auto value = static_cast<unsigned char>(i % 255 + 1);
      gpu.fill(source, value);
      gpu.download(source, std::span(room)).detach();
      ASSERT_TRUE(gpu.sync().get());
      ASSERT_EQ(std::count(room.begin(), room.end(), value), static_cast<std::ptrdiff_t>(bytes))
          << "round " << i << " of " << bytes << " bytes";
    }
  }
}

TEST(sync, waits_for_earlier_downloads_of_a_worker_process) { downloads_arrive_before_sync(isolation::process); }
TEST(sync, waits_for_earlier_downloads_of_a_worker_thread) { downloads_arrive_before_sync(isolation::thread); }

// Does the same with small downloads, when other threads take part in delivering answers.
TEST(sync, waits_for_small_downloads) {
  runtime rt;
  const device gpu = rt.open_device();
  std::atomic<bool> enough{false};
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t) {
    others.emplace_back([&] {
      while (!enough) (void)gpu.ping().get();
    });
  }
  auto source = gpu.alloc<unsigned char>(60'000);
  std::vector<unsigned char> room(60'000);
  for (int i = 0; i < 1500; ++i) {
    const auto value = static_cast<unsigned char>(i % 255 + 1);
    gpu.fill(source, value);
    gpu.download(source, std::span(room)).detach();
    EXPECT_TRUE(gpu.sync().get());
    EXPECT_TRUE(room.front() == value && room.back() == value) << "round " << i;
  }
  enough = true;
  for (std::thread& t : others) t.join();
}

TEST(sync, does_not_wait_for_later_downloads) {
  runtime rt;
  const device gpu = rt.open_device();
  auto source = gpu.alloc<int>(1 << 20);
  std::vector<std::vector<int>> rooms(12, std::vector<int>(1 << 20));
  std::vector<pending<void>> syncs;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    gpu.fill(source, static_cast<int>(i) + 1);
    gpu.download(source, std::span(rooms[i])).detach();
    syncs.push_back(gpu.sync());
  }
  for (std::size_t i = 0; i < syncs.size(); ++i) {
    ASSERT_TRUE(syncs[i].get());
    EXPECT_EQ(rooms[i].front(), static_cast<int>(i) + 1);
    EXPECT_EQ(rooms[i].back(), static_cast<int>(i) + 1);
  }
}

// The thread that delivers a download may run this continuation: it must not wait for itself.
TEST(sync, can_be_awaited_in_the_continuation_of_a_download) {
  runtime rt;
  const device gpu = rt.open_device();
  for (const std::size_t count : {1000u, 1'000'000u}) {
    auto source = gpu.alloc<int>(count);
    gpu.fill(source, 7);
    const auto waited =
        gpu.download(source).then([&](result<std::vector<int>> data) { return data && gpu.sync().get(); }).get();
    EXPECT_TRUE(waited && *waited);
  }
}

}  // namespace
