// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Requests are cancelled, by hand and by stop tokens, or time out; requests that have started end normally.
#include <chrono>
#include <cstdio>
#include <stop_token>
#include <thread>
#include <troupe/async/thread_pool.hpp>
#include <troupe/async/when.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

constexpr int n = 100;

bool later(const auto& answer) { return !answer && answer.error().reaction() == reaction::retry_later; }

task<result<float>> patient(device gpu, buffer<float> x) {
  co_return co_await gpu.ask(blas::asum<float>{.x = x, .n = n}).cancel_on(co_await get_stop_token());
}

task<result<int>> all(device gpu, thread_pool& pool) {
  int wrong = 0;
  auto x = gpu.alloc<float>(n), y = gpu.alloc<float>(n);
  gpu.fill(x, 1.0f);
  gpu.fill(y, 1.0f);
  co_await gpu.sync();

  // By a time-out: the request has not started by then.
  gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 200});
  wrong += !later(co_await as_result(gpu.ask(blas::asum<float>{.x = x, .n = n}, {.timeout = 20ms})));
  wrong += co_await gpu.ask(blas::asum<float>{.x = x, .n = n}, {.timeout = 20s}) != n;

  // By hand: the request's output is stale, but its input is not.
  gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 100, .number = 1});
  auto copy = gpu.copy(y, x);
  copy.cancel();
  wrong += !later(co_await as_result(std::move(copy)));
  wrong += y.readable() || !x.readable();
  co_await gpu.fill(y, 2.0f);
  wrong += co_await gpu.ask(blas::asum<float>{.x = y, .n = n}) != 2 * n;

  // By a stop token, which ends two at once, but neither a request without the token nor one that has started.
  std::stop_source stop;
  auto running = gpu.ask(faults::hang{.through = x.as<std::byte>(), .milliseconds = 150, .number = 2});
  std::this_thread::sleep_for(50ms);
  auto first = gpu.ask(blas::asum<float>{.x = x, .n = n}).cancel_on(stop.get_token());
  auto second = gpu.download(x).cancel_on(stop.get_token());
  auto without = gpu.ask(blas::asum<float>{.x = x, .n = n});
  running = std::move(running).cancel_on(stop.get_token());
  stop.request_stop();
  wrong += !later(co_await as_result(std::move(first)));
  wrong += !later(co_await as_result(std::move(second)));
  wrong += co_await std::move(without) != n;
  wrong += !co_await as_result(std::move(running));

  // A task that passes its own token on.
  gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 100, .number = 3});
  auto asked = start(pool, patient(gpu, x));
  asked.cancel();
  wrong += !later(co_await as_result(std::move(asked)));
  auto answer = start(pool, patient(gpu, x), stop.get_token());  // already stopped
  const auto too_late = co_await as_result(std::move(answer));
  wrong += !later(too_late) && !(too_late && *too_late == n);
  wrong += co_await start(pool, patient(gpu, x)) != n;

  // Waits for a limited time, and for the first of several.
  gpu.tell(faults::hang{.through = x.as<std::byte>(), .milliseconds = 100, .number = 4});
  auto slow = gpu.ask(blas::asum<float>{.x = x, .n = n});
  wrong += slow.get_for(10ms).has_value();
  const auto fast = co_await when_any(std::move(slow), gpu.ask(blas::asum<float>{.x = y, .n = n}));
  wrong += fast.answer.value_or(0) != (fast.index == 1 ? 2 * n : n);
  wrong += gpu.statistics().faults != 0;
  co_return wrong;
}

int main() {
  runtime rt;
  thread_pool pool(2);
  const auto wrong = sync_wait(all(rt.open_device({.libraries = {"blas", "faults"}}), pool));
  if (!wrong) return std::fprintf(stderr, "cancelling: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
