// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <apps/demo/clients.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <troupe/async/thread_pool.hpp>
#include <troupe/base/clock.hpp>

namespace demo {

using namespace troupe;

namespace {

constexpr int blocking_clients = 2, coroutine_clients = 8, pool_threads = 2;

/// What clients of one kind have seen.
struct tally {
  std::atomic<std::uint64_t> right{0}, wrong{0}, refused{0};
  std::mutex lock;
  std::vector<double> latencies_us;  // under the lock

  void count(const network& net, const matrix& inputs, const result<matrix>& answer, std::int64_t asked_ns) {
    const double us = static_cast<double>(now_ns() - asked_ns) / 1000;
    if (!answer) {
      if (refused.fetch_add(1) == 0) std::fprintf(stderr, "\n%s\n", answer.error().to_string().c_str());
      return;
    }
    if (net.right(inputs, *answer))
      right.fetch_add(1);
    else
      wrong.fetch_add(1);
    const std::scoped_lock guard(lock);
    latencies_us.push_back(us);
  }
};

struct service {
  std::shared_ptr<const network> net;
  std::int64_t until_ns;
  tally blocking, coroutines;
};

void blocking_client(service& s, int client) {
  for (std::uint64_t i = 0; now_ns() < s.until_ns; ++i) {
    const matrix inputs = inputs_for(client, i);
    const std::int64_t asked = now_ns();
    s.blocking.count(*s.net, inputs, s.net->ask(inputs).get(), asked);
  }
}

task<result<void>> coroutine_client(service* s, int client) {
  for (std::uint64_t i = 0; now_ns() < s->until_ns; ++i) {
    const matrix inputs = inputs_for(client, i);
    const std::int64_t asked = now_ns();
    const result<matrix> answer = co_await as_result(network::infer(s->net, inputs));
    s->coroutines.count(*s->net, inputs, answer, asked);
  }
  co_return {};
}

void show_progress(const service& s, std::int64_t started_ns, double seconds) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  std::int64_t next = started_ns;
  while (now_ns() < s.until_ns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (now_ns() < next) continue;
    next = now_ns() + (terminal ? 100'000'000 : 1'000'000'000);
    const double passed = static_cast<double>(now_ns() - started_ns) / 1e9;
    const std::uint64_t right = s.blocking.right.load() + s.coroutines.right.load();
    const auto bars = static_cast<int>(std::min(1.0, passed / seconds) * 30);
    std::printf("%s  [%.*s%*s] %4.1f s  %8llu answers, all checked  %8.0f / s%s", terminal ? "\r" : "", bars,
                "##############################", 30 - bars, "", passed, static_cast<unsigned long long>(right),
                static_cast<double>(right) / passed, terminal ? "" : "\n");
    std::fflush(stdout);
  }
  if (terminal) std::printf("\r\033[K");
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? 0
                        : sorted[std::min(sorted.size() - 1,
                                          static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

void print_row(const char* who, tally& t, double seconds) {
  std::sort(t.latencies_us.begin(), t.latencies_us.end());
  const auto right = static_cast<double>(t.right.load());
  std::printf("  %-24s %8.0f %6llu %9.0f %8.2f   %8.0f %8.0f %8.0f %8.0f\n", who, right,
              static_cast<unsigned long long>(t.wrong.load() + t.refused.load()), right / seconds,
              right / seconds * shape::flops / 1e9, at_share(t.latencies_us, 0.5), at_share(t.latencies_us, 0.9),
              at_share(t.latencies_us, 0.99), t.latencies_us.empty() ? 0 : t.latencies_us.back());
}

}  // namespace

bool serve_clients(const device& gpu, double seconds) {
  const std::int64_t started = now_ns();
  service s{.net = std::make_shared<network>(gpu, 7),
            .until_ns = started + static_cast<std::int64_t>(seconds * 1e9),
            .blocking = {},
            .coroutines = {}};
  thread_pool pool(pool_threads);
  std::vector<pending<void>> coroutines;
  for (int i = 0; i < coroutine_clients; ++i) coroutines.push_back(start(pool, coroutine_client(&s, 100 + i)));
  std::vector<std::thread> threads;
  for (int i = 0; i < blocking_clients; ++i) threads.emplace_back([&s, i] { blocking_client(s, i); });
  show_progress(s, started, seconds);
  for (std::thread& t : threads) t.join();
  for (pending<void>& c : coroutines)
    if (auto done = c.get(); !done) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());

  std::printf("  %-24s %8s %6s %9s %8s   %8s %8s %8s %8s\n", "", "right", "wrong", "per s", "GFLOP/s", "p50 us",
              "p90 us", "p99 us", "max us");
  print_row((std::to_string(blocking_clients) + " threads that block").c_str(), s.blocking, seconds);
  print_row((std::to_string(coroutine_clients) + " coroutines, " + std::to_string(pool_threads) + " threads").c_str(),
            s.coroutines, seconds);
  const auto bad = [](const tally& t) { return t.right.load() == 0 || t.wrong.load() + t.refused.load() != 0; };
  return !bad(s.blocking) && !bad(s.coroutines);
}

}  // namespace demo
