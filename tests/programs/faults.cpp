// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A kernel that crashes, one that never ends, a worker that is killed, a sealed buffer that survives all of that,
// retries.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <troupe/device/sealing.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;
using namespace std::chrono_literals;

constexpr const char* source = R"(
__global__ void wild(const float* x, float* y) {
  float* nowhere = (float*)(x[0] > 1000 ? 0 : 8);
  *nowhere = x[0];
  y[0] = *nowhere;
}

__global__ void endless(volatile float* y) {
  while (y[0] >= 0) y[0] = y[0] + 1;
}

__global__ void slow_sum(const float* x, float* y, int n) {
  volatile unsigned turns = 0;
  while (turns < 1500000000) turns = turns + 1;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  y[0] = sum;
}
)";

constexpr int n = 5000;

void expect(bool holds, const char* what, int& wrong) {
  if (!holds) std::fprintf(stderr, "faults: %s\n", what);
  wrong += !holds;
}

task<result<int>> all(device gpu) {
  int wrong = 0;
  const jit::program program = jit::compile(gpu, {.source = source, .name = "faults.cu"});
  co_await program.ready();

  const std::vector<float> values(n, 0.5f);
  auto weights = gpu.alloc<float>(n, {.sealable = true});
  co_await gpu.upload(weights, values);
  co_await seal(gpu, weights);
  auto y = gpu.alloc<float>(1, {.zeroed = true});

  const result<void> crash = co_await as_result(
      gpu.ask(jit::launch{.kernel = program.kernel("wild"), .grid = 1, .block = 1, .arguments = {weights, out(y)}}));
  expect(!crash && crash.error().reaction() == reaction::context_lost, "the crash is an answer", wrong);
  expect(!crash && crash.error().to_string().find("SIGSEGV") != std::string::npos, "the text says what", wrong);
  expect(!y.readable(), "its output is stale", wrong);
  expect(gpu.last_fault()->signal == SIGSEGV && gpu.last_fault()->kind == fault_kind::ended, "the black box", wrong);
  expect(gpu.last_fault()->blamed && gpu.last_fault()->blamed->name == "jit.launch wild (faults.cu)",
         "the launch is blamed", wrong);
  expect(co_await gpu.download(weights) == values, "the weights, after a crash", wrong);

  gpu.fill(y, 0.0f);
  const result<void> endless = co_await as_result(
      gpu.ask(jit::launch{.kernel = program.kernel("endless"), .grid = 1, .block = 1, .arguments = {inout(y)}},
              {.run_timeout = 150ms}));
  expect(!endless && endless.error().reaction() == reaction::context_lost, "the endless kernel is ended", wrong);
  expect(gpu.last_fault()->kind == fault_kind::overran, "the black box says why", wrong);
  expect(co_await gpu.download(weights) == values, "the weights, after an endless kernel", wrong);

  co_await gpu.sync();
  ::kill(gpu.statistics().worker_pid.value(), SIGKILL);
  expect(co_await gpu.ping(7) == 7, "served after a kill", wrong);
  expect(co_await gpu.download(weights) == values, "the weights, after a kill", wrong);

  // Killed while it runs: the next worker runs it again, because its input is sealed.
  const int before = gpu.statistics().worker_pid.value();
  auto again = gpu.ask(
      jit::launch{.kernel = program.kernel("slow_sum"), .grid = 1, .block = 1, .arguments = {weights, out(y), n}},
      {.retries = 2});
  std::this_thread::sleep_for(60ms);
  ::kill(before, SIGKILL);
  co_await std::move(again);
  expect((co_await gpu.download(y)).front() == 0.5f * n, "the sum, by the next worker", wrong);
  expect(gpu.last_fault()->retried + gpu.last_fault()->kept == 1, "one request was run again", wrong);
  expect(gpu.statistics().worker_pid.value() != before, "another worker serves", wrong);

  expect(gpu.statistics().faults == 4 && gpu.statistics().generation == 5, "four faults", wrong);
  co_await unseal(gpu, weights);
  co_await gpu.fill(weights, 2.0f);
  expect((co_await gpu.download(weights)).back() == 2, "it can be written again", wrong);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device({.restarts = 20})));
  if (!wrong) return std::fprintf(stderr, "faults: %s\n", wrong.error().to_string().c_str()), 1;
  return *wrong == 0 ? 0 : 1;
}
