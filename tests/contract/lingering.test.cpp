// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that memory is freed without a further call.
#include <thread>

#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

class lingering : public testing::TestWithParam<isolation> {
 protected:
  runtime rt;
  device gpu = rt.open_device(with_test_engines({.isolation = GetParam()}));
};
INSTANTIATE_TEST_SUITE_P(each, lingering, testing::Values(isolation::process, isolation::thread),
                         [](const auto& i) { return i.param == isolation::process ? "process" : "thread"; });

// The request ends on a lane's thread, long after the pump has gone to sleep, and nothing calls the device again.
TEST_P(lingering, frees_the_memory_of_a_tell_without_another_call) {
  ASSERT_OK(gpu.started().get());
  const memory_quota ours(1 << 20);
  const auto gate = gpu.alloc_host<std::uint32_t>(2, {.zeroed = true});
  ASSERT_OK(gpu.ping().get());
  {
    const auto result = gpu.alloc<float>(1, {.quota = ours});
    ASSERT_TRUE(gpu.tell(hold_slowly{.gate = gate, .result = result}));
  }
  const auto word = [&gate](std::size_t i) { return std::atomic_ref(gate.data()[i]); };
  while (word(entered).load() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);  // so that the pump is asleep; otherwise the test would pass too easily
  EXPECT_NE(ours.used(), 0u);
  word(opened).store(1);
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (ours.used() != 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(ours.used(), 0u);
}

}  // namespace
}  // namespace troupe::whole
