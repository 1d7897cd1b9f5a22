// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of what happens to managed memory, and to requests that use it, when workers are replaced.
#include <fstream>
#include <troupe/device/managed.hpp>

#include <tests/contract/faults/with_standbys.hpp>

namespace troupe::whole {
namespace {

using namespace testing_actor;

class lost_managed_memory : public with_standbys {};
TROUPE_WITH_STANDBYS(lost_managed_memory);

TEST_P(lost_managed_memory, is_not_used_by_requests_of_the_next_worker) {
  const device gpu = open({.inline_bytes = 0, .salvage = salvage::untouched});
  const auto x = alloc_managed<float>(gpu, 100), y = gpu.alloc<float>(100), z = gpu.alloc<float>(100);
  gpu.fill(y, 1.f);
  ASSERT_OK(gpu.sync().get());
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  gpu.tell(increment{.x = y, .n = 100});
  auto only_writes = gpu.copy(x, z);
  auto behind = gpu.ask(testing_actor::copy{.source = y, .target = x, .n = 100});
  auto retried = gpu.fill(x, 3.f, {.retries = 3});
  kill_worker(gpu);
  for (auto* p : {&only_writes, &behind, &retried}) {
    const auto got = p->get();
    if (got) continue;  // the request had finished before
    EXPECT_TRUE(got.error().reaction() == reaction::context_lost) << got.error().to_string();
  }
  EXPECT_FALSE(x.readable());
  EXPECT_OK(gpu.ping().get());
  EXPECT_EQ(gpu.statistics().faults, 1u) << "the next worker has no such memory, and received no request for it";
}

std::uint64_t pages_of(int pid) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> pages;
  return pages;
}

TEST(managed_memory_of_a_worker, is_returned_to_the_system_with_the_last_handle) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines());
  ASSERT_OK(gpu.started().get());
  const int pid = gpu.statistics().worker_pid.value();
  const std::uint64_t before = pages_of(pid), gib = (1 << 30) / 4096;
  {
    const auto x = alloc_managed<std::byte>(gpu, 1 << 30);
    EXPECT_GE(pages_of(pid), before + gib);
  }
  while (pages_of(pid) >= before + gib) std::this_thread::yield();
}

TEST(managed_memory_of_a_worker, outlives_the_handle_while_requests_use_it) {
  runtime rt;
  const device gpu = rt.open_device(with_test_engines({.inline_bytes = 0}));
  const auto y = gpu.alloc<float>(100, {.zeroed = true});
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  {
    const auto x = alloc_managed<float>(gpu, 100, {.zeroed = true});
    gpu.tell(increment{.x = x, .n = 100});
    gpu.copy(y, x);
  }
  b.lift();
  EXPECT_EQ(gpu.download(y).get().value(), std::vector<float>(100, 1.f));
}

}  // namespace
}  // namespace troupe::whole
