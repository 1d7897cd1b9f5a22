// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <troupe/memory/staging.hpp>

namespace troupe {
namespace {

TEST(staging, a_sleeper_whose_announcement_was_overwritten_still_wakes) {
  using namespace std::chrono_literals;
  staging_header h;
  std::thread waits([&h] { h.await([&h] { return h.filled.load(std::memory_order_acquire) > 0; }); });
  while (h.sleepers.load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);  // asleep by now
  h.sleepers.store(0);                // overwritten
  h.step(h.filled, 1);
  waits.join();
}

}  // namespace
}  // namespace troupe
