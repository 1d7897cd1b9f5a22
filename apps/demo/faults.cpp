// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/demo/faults.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <troupe/blas/blas.hpp>

namespace demo {

using namespace troupe;

bool show_an_error_travelling(const device& gpu) {
  constexpr std::int64_t n = 64;
  const auto a = gpu.alloc<float>(n * n), b = gpu.alloc<float>(n * n), c = gpu.alloc<float>(n * n),
             d = gpu.alloc<float>(n * n);
  gpu.fill(a, 1);
  gpu.fill(b, 2);
  gpu.tell(blas::gemm<float>{.a = a, .b = b, .c = c, .m = n, .n = n, .k = 2 * n});  // the mistake: a and b are n by n
  gpu.tell(blas::gemm<float>{.a = c, .b = b, .c = d, .m = n, .n = n, .k = n});
  const auto answer = gpu.download(d).get();  // the only look
  if (answer) {
    std::printf("  The download gave values, though what they were made of was refused.\n");
    return false;
  }
  const error& e = answer.error();
  std::printf("  what went wrong first   %s\n", e.request().name.c_str());
  std::printf("  why                     %s\n", e.text().c_str());
  std::printf("  what to do              %s\n", std::string(to_string(e.reaction())).c_str());
  for (const request_id& step : e.chain()) std::printf("  arrived through         %s\n", step.name.c_str());
  return e.reaction() == reaction::caller_bug && e.request().name.starts_with("blas.gemm") && !e.chain().empty();
}

bool show_a_worker_dying(const device& gpu) {
  constexpr std::int64_t n = 384;
  constexpr int count = 500;
  const int worker = gpu.statistics().worker_pid;
  const auto a = gpu.alloc<float>(n * n), b = gpu.alloc<float>(n * n), c = gpu.alloc<float>(n * n);
  gpu.fill(a, 1);
  gpu.fill(b, 1);
  std::vector<pending<void>> outstanding;
  for (int i = 0; i < count; ++i)
    outstanding.push_back(gpu.ask(blas::gemm<float>{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n}));
  const bool first = outstanding[count / 10].get().has_value();
  ::kill(worker, SIGKILL);
  const std::int64_t killed = now_ns();

  int done = first, lost = 0, other = !first, none = 0;
  std::string why;
  for (int i = 0; i < count; ++i) {
    if (i == count / 10) continue;
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
  const double ms = static_cast<double>(now_ns() - killed) / 1e6;
  std::printf("  %d requests were outstanding when process %d was killed:\n", count, worker);
  std::printf(
      "    %4d had been computed\n    %4d answered context_lost\n    %4d answered something else\n    %4d without an "
      "answer\n",
      done, lost, other, none);
  std::printf("  The last answer came %.1f ms after the kill: \"%s\"\n", ms, why.c_str());
  const auto later = gpu.download(c).get();
  std::printf("  Asked again, the device says: %s\n", later ? "values" : later.error().text().c_str());
  return lost > 0 && other == 0 && none == 0 && !later;
}

}  // namespace demo
