// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Managed memory: prefetched, used like any other, and lost with its worker.
#include <signal.h>

#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

task<result<int>> all(device gpu) {
  const int n = 1 << 18;
  int wrong = 0;
  auto table = alloc_managed<float>(gpu, n), twin = alloc_managed<float>(gpu, n);
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i % 4);
  co_await gpu.upload(table, values);
  co_await prefetch(gpu, table, managed_place::device);
  co_await prefetch(gpu, table.slice(1000, 5000), managed_place::host);
  co_await gpu.copy(twin, table);
  co_await gpu.ask(blas::axpy<float>{.x = table, .y = twin, .n = n, .alpha = 2});
  for (float& v : values) v *= 3;
  wrong += co_await gpu.download(twin) != values;
  wrong += gpu.statistics().memory.managed_bytes < 2 * n * sizeof(float);
  const auto advice = co_await as_result(advise(gpu, table, managed_advice::read_mostly));
  wrong += advice || advice.error().reaction() != reaction::unsupported;

  memory_quota little(1 << 16);
  const auto refused = alloc_managed<float>(gpu, n, {.quota = little});
  wrong += refused.readable() || refused.cause()->reaction() != reaction::retry_later;

  ::kill(gpu.statistics().worker_pid.value(), SIGKILL);
  const auto gone = co_await as_result(gpu.download(table));
  wrong += gone || gone.error().reaction() != reaction::context_lost;
  const auto for_good = co_await as_result(gpu.fill(table, 1.0f));
  wrong += for_good.has_value();
  table = alloc_managed<float>(gpu, n);
  co_await gpu.fill(table, 1.0f);
  wrong += co_await gpu.ask(blas::asum<float>{.x = table, .n = n}) != n;
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device()));
  if (!wrong) return std::fprintf(stderr, "managed_memory: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
