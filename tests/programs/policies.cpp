// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Each wait policy: prints how long a ping takes, and tests that the answer is right.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

using namespace troupe;

task<result<int>> pings(device gpu, const char* name) {
  int wrong = 0;
  co_await gpu.started();
  std::vector<double> took;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    wrong += co_await gpu.ping(i) != i;
    took.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    wrong += gpu.ping(i).get().value_or(~i) != i;
    took.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(took.begin(), took.end());
  std::printf("%-10s median %6.1f us, 99 %% %7.1f us\n", name, took[took.size() / 2], took[took.size() * 99 / 100]);
  co_return wrong;
}

int main() {
  int wrong = 0;
  for (const auto& [policy, name] : {std::pair{wait_policy::latency, "latency"},
                                     {wait_policy::balanced, "balanced"},
                                     {wait_policy::efficient, "efficient"}}) {
    runtime rt;
    const auto one = sync_wait(pings(rt.open_device({.wait = policy}), name));
    if (!one) return std::fprintf(stderr, "policies: %s\n", one.error().to_string().c_str()), 1;
    wrong += *one;
  }
  return wrong == 0 ? 0 : 1;
}
