// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/faults.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/blas.hpp>

namespace demo {

using namespace troupe;

act show_an_error_travelling(const device& gpu) {
  act a{.title = "A mistake in the middle of a computation, checked only at its end",
        .verdict = "the error travelled with the data",
        .lines = {}};
  constexpr std::int64_t n = 64;
  const auto x = gpu.alloc<float>(n * n), y = gpu.alloc<float>(n * n), xy = gpu.alloc<float>(n * n),
             end = gpu.alloc<float>(n * n);
  gpu.fill(x, 1);
  gpu.fill(y, 2);
  gpu.tell(blas::gemm<float>{.a = x, .b = y, .c = xy, .m = n, .n = n, .k = 2 * n});  // the mistake: x and y are n by n
  gpu.tell(blas::gemm<float>{.a = xy, .b = y, .c = end, .m = n, .n = n, .k = n});
  const auto answer = gpu.download(end).get();  // the only place where errors are checked
  if (answer) {
    a.lines.emplace_back("the download returned values although their inputs were refused");
    return a;
  }
  const error& e = answer.error();
  a.lines.push_back("what went wrong first   " + e.request().name);
  a.lines.push_back("why                     " + e.text());
  a.lines.push_back("what to do              " + std::string(to_string(e.reaction())));
  for (const request_id& step : e.chain()) a.lines.push_back("arrived through         " + step.name);
  a.good = e.reaction() == reaction::caller_bug && e.request().name.starts_with("blas.gemm") && !e.chain().empty();
  return a;
}

namespace {

// Returns an extent for which a product takes at least a millisecond, so that many products are outstanding when the
// worker is killed. A GPU continues until the system has cleaned up after a dead process.
std::int64_t size_of_slow_products(const device& gpu) {
  constexpr std::int64_t largest = 8192, at_least_ns = 1'000'000;
  std::int64_t n = 384;
  for (; n < largest; n *= 2) {
    const auto x = gpu.alloc<float>(n * n), y = gpu.alloc<float>(n * n), z = gpu.alloc<float>(n * n);
    gpu.fill(x, 1);
    gpu.fill(y, 1);
    const blas::gemm<float> product{.a = x, .b = y, .c = z, .m = n, .n = n, .k = n};
    if (!gpu.ask(product).get()) break;  // the first product is slower; an error is reported again below
    const std::int64_t began = now_ns();
    if (!gpu.ask(product).get() || now_ns() - began >= at_least_ns) break;
  }
  return n;
}

}  // namespace

act show_a_worker_dying(const device& gpu) {
  act a{.title = "The worker is killed with work outstanding (kill -9)",
        .verdict = "every request was answered, and this process continues",
        .lines = {}};
  const std::int64_t n = size_of_slow_products(gpu);
  constexpr int count = 500, early = count / 10;
  const int worker = gpu.statistics().worker_pid.value();
  const auto x = gpu.alloc<float>(n * n), y = gpu.alloc<float>(n * n), z = gpu.alloc<float>(n * n);
  gpu.fill(x, 1);
  gpu.fill(y, 1);
  std::vector<pending<void>> outstanding;
  for (int i = 0; i < count; ++i)
    outstanding.push_back(gpu.ask(blas::gemm<float>{.a = x, .b = y, .c = z, .m = n, .n = n, .k = n}));
  int done = 0, lost = 0, other = 0, none = 0;
  outstanding[early].get() ? ++done : ++other;
  const auto unanswered =
      std::count_if(outstanding.begin(), outstanding.end(), [](const auto& p) { return !p.ready(); });
  ::kill(worker, SIGKILL);
  const std::int64_t killed = now_ns();
  std::string why;
  for (int i = 0; i < count; ++i) {
    if (i == early) continue;
    const auto answer = outstanding[i].get_for(std::chrono::seconds(10));
    if (!answer)
      ++none;
    else if (*answer)
      ++done;
    else if (answer->error().reaction() == reaction::context_lost)
      ++lost, why = answer->error().text();
    else
      ++other;
  }
  char last[64];
  std::snprintf(last, sizeof last,
                "the last answer came %.1f ms after the kill: ", static_cast<double>(now_ns() - killed) / 1e6);
  const auto later = gpu.download(z).get();
  a.lines = {cat("of ", count, " requests, ", unanswered, " were unanswered when process ", worker, " was killed"),
             cat("in the end ", done, " had been computed, ", lost, " had failed with context_lost, ", other,
                 " with another error, ", none, " were not answered"),
             last + why, "asked again, the device returns: " + (later ? std::string("values") : later.error().text())};
  a.good = lost > 0 && other == 0 && none == 0 && !later;
  return a;
}

}  // namespace demo
