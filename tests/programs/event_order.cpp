// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Events: recorded, awaited from other threads and for another device, and the time between two of them.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <troupe/blas/blas.hpp>
#include <troupe/device/peers.hpp>
#include <troupe/events/events.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

task<result<int>> order(device gpu, device other) {
  int wrong = 0;
  const int n = 1000;
  auto x = gpu.alloc<float>(n), unrelated = gpu.alloc<float>(n);
  gpu.fill(x, 1.0f);
  gpu.fill(unrelated, 0.0f);
  co_await gpu.sync();

  const events::event begin(gpu), end(gpu), everything(gpu), never(gpu);
  wrong += begin.query();
  co_await begin.record(x);
  gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 120});
  gpu.tell(blas::scal<float>{.x = x, .n = n, .alpha = 3});
  end.record(x);
  wrong += end.query();  // 120 ms have not passed
  std::atomic<int> seen = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { seen += end.reached().get() && end.query(); });
  co_await end.reached();
  wrong += !end.query() || !end.enqueued();
  for (auto& t : threads) t.join();
  wrong += seen != 4;
  const std::chrono::nanoseconds took = co_await elapsed(begin, end);
  wrong += took < 115ms || took > 10s;
  wrong += co_await elapsed(end, begin) != -took;

  // A request held back by the event runs after it.
  gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 50, .number = 2});
  end.record(x);
  co_await end.hold_back(unrelated);
  wrong += !end.query();
  co_await gpu.fill(unrelated, 5.0f);

  // For another device: its input was written before.
  auto y = other.alloc<float>(n);
  gpu.fill(x, 8.0f);
  co_await end.record(x);
  co_await end.reached();
  co_await copy_between(other, y, gpu, x);
  wrong += co_await other.download(y) != std::vector<float>(n, 8.0f);

  co_await everything.record();
  wrong += !everything.query() || gpu.statistics().depth != 0;
  const result<std::chrono::nanoseconds> nothing = co_await as_result(elapsed(begin, never));
  wrong += nothing || nothing.error().reaction() != reaction::caller_bug;
  std::printf("%.1f ms between the two, %d wrong\n", static_cast<double>(took.count()) / 1e6, wrong);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(order(rt.open_device(), rt.open_device()));
  if (!wrong) return std::fprintf(stderr, "event_order: %s\n", wrong.error().to_string().c_str()), 1;
  return *wrong == 0 ? 0 : 1;
}
