// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Eight devices, opened at once, used by eight threads each, and closed while in use.
#include <atomic>
#include <cstdio>
#include <thread>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

int main() {
  std::atomic<int> served = 0, wrong = 0, stopped = 0;
  for (int round = 0; round < 2; ++round) {
    runtime rt;
    std::vector<device> devices;
    for (int i = 0; i < 8; ++i) devices.push_back(rt.open_device({.libraries = {"blas"}, .standbys = 0}));

    std::vector<std::thread> threads;
    for (int id = 0; id < 8; ++id)
      threads.emplace_back([&, id] {
        for (int i = 0; i < 40; ++i) {
          const device& gpu = devices[static_cast<std::size_t>((id + i) % 8)];
          auto x = gpu.alloc<float>(100);
          gpu.fill(x, static_cast<float>(id));
          const auto sum = gpu.ask(blas::asum<float>{.x = x, .n = 100}).get();
          ++(sum && *sum == static_cast<float>(100 * id) ? served : wrong);
        }
        // Continues until they are closed.
        for (const device& gpu : devices)
          while (true) {
            const auto answer = gpu.ping(static_cast<std::uint64_t>(id)).get();
            if (answer && *answer == static_cast<std::uint64_t>(id)) continue;
            ++(!answer && answer.error().reaction() == reaction::stopped ? stopped : wrong);
            break;
          }
      });
    while (served < (round + 1) * 8 * 40 && wrong == 0) std::this_thread::yield();
    std::vector<pending<void>> ends;
    for (const device& gpu : devices) ends.push_back(gpu.close());
    for (auto& end : ends) wrong += !end.get();
    for (auto& t : threads) t.join();
    for (const device& gpu : devices) wrong += gpu.state() != device_state::stopped;
  }
  std::printf("%d served, %d answer that it is stopped, %d wrong\n", served.load(), stopped.load(), wrong.load());
  return served == 2 * 8 * 40 && stopped == 2 * 8 * 8 && wrong == 0 ? 0 : 1;
}
