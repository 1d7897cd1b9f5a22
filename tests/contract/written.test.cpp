// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// written(): the program itself has written to host memory again, which makes it valid.
#include <algorithm>
#include <troupe/device/keep_content.hpp>
#include "harness.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

TEST(written, makes_host_memory_valid_that_was_lost_with_a_worker) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.restarts = 10}));
  const auto host = gpu.alloc_host<float>(100);
  const auto x = gpu.alloc<float>(100);
  for (int round = 1; round <= 3; ++round) {
    std::ranges::copy(counting(100, static_cast<float>(round)), host.begin());
    ASSERT_OK(written(gpu, host));
    EXPECT_TRUE(host.readable());
    gpu.upload(x, host);
    const auto found = gpu.download(x).get();
    ASSERT_OK(found);
    EXPECT_EQ(*found, counting(100, static_cast<float>(round)));
    replace_worker(gpu);
    EXPECT_TRUE(is_error(error_of(gpu.upload(x, host)), reaction::context_lost, {"SIGKILL"}));
  }
}

TEST(written, makes_a_slice_valid_and_leaves_the_rest_stale) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto host = gpu.alloc_host<float>(100);
  EXPECT_FALSE(gpu.ask(spoil{.target = out<float>(host.memory()), .n = 100, .text = "broken on purpose"}).get());
  ASSERT_FALSE(host.readable());
  ASSERT_OK(written(gpu, host.slice(0, 50)));
  EXPECT_TRUE(host.slice(0, 50).readable());
  EXPECT_FALSE(host.slice(49, 2).readable());
}

TEST(written, is_refused_while_a_request_uses_the_memory) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  const auto host = gpu.alloc_host<float>(100, {.zeroed = true});
  const auto x = gpu.alloc<float>(100, {.zeroed = true});
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  const buffer<float> gate(memory_range(b.gate().memory().owner, b.gate().memory().address, 4));
  gpu.copy(x.slice(0, 1), gate);  // waits for the blockade
  auto copied = gpu.download(x, host);
  EXPECT_TRUE(
      is_error(error_of(written(gpu, host)), reaction::caller_bug, {"written", "memory.download", "not completed"}));
  EXPECT_OK(written(gpu, gpu.alloc_host<float>(10))) << "no request uses this one";
  b.lift();
  ASSERT_OK(copied.get());
  EXPECT_OK(written(gpu, host));
}

TEST(written, is_refused_for_memory_that_is_not_the_devices) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines()), other = rt.open_device(with_test_engines());
  EXPECT_TRUE(is_error(error_of(written(gpu, host_buffer<float>())), reaction::caller_bug, {"written", "is empty"}));
  EXPECT_TRUE(is_error(error_of(written(gpu, other.alloc_host<float>(1))), reaction::caller_bug, {"another device"}));
  EXPECT_TRUE(is_error(error_of(written(gpu, gpu.alloc_host<float>(-1))), reaction::caller_bug, {"alloc"}));
  const auto host = gpu.alloc_host<float>(1);
  ASSERT_OK(gpu.close().get());
  EXPECT_TRUE(is_error(error_of(written(gpu, host)), reaction::stopped, {"closed"}));
}

}  // namespace
}  // namespace troupe::whole
