// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/recovery.hpp>
#include <bench/rounds.hpp>
#include <chrono>
#include <cstdio>

namespace troupe::bench {
namespace {

constexpr std::int64_t numbers = 4096;

}  // namespace

load::load(const device& gpu, int clients) {
  for (int c = 0; c < clients; ++c) threads_.emplace_back([this, gpu, c] { run(gpu, static_cast<float>(c)); });
}

load::~load() { stop(); }

void load::stop() {
  over_.store(true);
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
}

void load::run(const device& gpu, float first) {
  float value = first;
  while (!over_.load(std::memory_order_relaxed)) {
    const auto x = gpu.alloc<float>(numbers), y = gpu.alloc<float>(numbers);
    gpu.fill(x, value);
    gpu.copy(y, x);
    const auto answer = gpu.download(y).get();
    if (!answer) {
      const reaction how = answer.error().reaction();
      if (how != reaction::context_lost && how != reaction::retry_later) bad_.fetch_add(1);
      continue;
    }
    const bool good = std::all_of(answer->begin(), answer->end(), [value](float v) { return v == value; });
    (good ? right_ : bad_).fetch_add(1);
    value += 1;
  }
}

void await_right_answer(const device& gpu, std::uint64_t generation_before) {
  const auto x = gpu.alloc<std::uint32_t>(16);
  for (std::uint32_t value = 1;; ++value) {
    const bool next_one = gpu.statistics().generation > generation_before;
    gpu.fill(x, value);
    const auto answer = gpu.download(x).get();
    if (next_one && answer && *answer == std::vector<std::uint32_t>(16, value)) return;
    if (!answer && gpu.state() == device_state::stopped) throw bad_result(answer.error());
  }
}

void await_standbys(const device& gpu, std::size_t count) {
  while (gpu.statistics().standby_pids.size() < count) {
    if (gpu.state() == device_state::stopped) throw bad_result(gpu.ping().get().error());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

figures figures_of(const std::vector<double>& all, const load& clients, double p99_goal) {
  const double p99 = percentile(all, 0.99);
  char note[120];
  std::snprintf(note, sizeof note, "%zu faults under load; 99th percentile %.1f ms, longest %.1f ms", all.size(), p99,
                *std::max_element(all.begin(), all.end()));
  figures f{.ours = median(all), .note = note};
  if (p99_goal > 0 && p99 > p99_goal) {
    char missed[64];
    std::snprintf(missed, sizeof missed, "99th percentile <= %g ms", p99_goal);
    f.missed = missed;
  }
  if (clients.objectionable()) f.objection = "a client got a wrong answer, or an error that no fault excuses";
  return f;
}

}  // namespace troupe::bench
