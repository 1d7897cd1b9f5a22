// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A client's quota and a device's memory are exhausted: requests are refused, and served again once some memory is
// free.
#include <cstdint>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

task<result<int>> all(device gpu) {
  int wrong = 0;
  memory_quota client(1 << 20), other(1 << 20);
  {
    std::vector<buffer<float>> held;
    for (int i = 0; i < 4; ++i) {
      held.push_back(gpu.alloc<float>(1 << 16, {.zeroed = true, .quota = client}));
      wrong += !held.back().readable();
    }
    auto more = gpu.alloc<float>(1, {.quota = client});
    wrong += more.readable() || more.cause()->reaction() != reaction::retry_later;
    gpu.fill(more, 1.0f);
    const auto used = co_await as_result(gpu.ask(blas::asum<float>{.x = more, .n = 1}));
    wrong += used || used.error().reaction() != reaction::retry_later;
    wrong += !gpu.alloc<float>(1 << 16, {.quota = other}).readable();
    wrong += client.used() != 1 << 20;
  }
  co_await gpu.sync();
  wrong += client.used() != 0;
  auto again = gpu.alloc<float>(1 << 18, {.zeroed = true, .quota = client});
  wrong += co_await gpu.ask(blas::asum<float>{.x = again, .n = 1 << 18}) != 0;

  // The device's own memory: 16 MiB.
  std::vector<buffer<std::byte>> all_of_it;
  while (true) {
    all_of_it.push_back(gpu.alloc<std::byte>(1 << 20));
    if (!all_of_it.back().readable()) break;
    if (all_of_it.size() > 100) co_return error(reaction::fatal, "quotas", "there is no limit");
  }
  wrong += all_of_it.size() != 16;  // 15 beside `again`, and one that was refused
  wrong += all_of_it.back().cause()->reaction() != reaction::retry_later;
  wrong += gpu.statistics().memory.failed_allocations < 2;
  std::printf("%s\n", all_of_it.back().cause()->text().c_str());
  all_of_it.resize(8);
  co_await gpu.sync();
  auto fits = gpu.alloc<std::byte>(4 << 20, {.zeroed = true});
  co_await gpu.fill(fits, std::byte{3});
  wrong += (co_await gpu.download(fits)).back() != std::byte{3};
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device({.memory_limit = 16 << 20})));
  if (!wrong) return std::fprintf(stderr, "quotas: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
