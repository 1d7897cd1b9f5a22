// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/cli/peak.hpp>
#include <cstdint>
#include <latch>
#include <system_error>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/processor/x86_processor.hpp>
#include <vector>

namespace troupe::apps {

#ifdef __x86_64__
namespace {

// Each round has 12 independent instructions, which is how many are in flight on a processor that issues two or three
// per cycle with a latency of four cycles. They are written as assembly, so that compilers do not change what is
// measured. Registers start from 1, because subnormal numbers would be slower.
#define TROUPE_TWELVE(ONE) \
  ONE("0") ONE("1") ONE("2") ONE("3") ONE("4") ONE("5") ONE("6") ONE("7") ONE("8") ONE("9") ONE("10") ONE("11")
#define TROUPE_SIX(ONE, OTHER) \
  ONE("0")                     \
  OTHER("1") ONE("2") OTHER("3") ONE("4") OTHER("5") ONE("6") OTHER("7") ONE("8") OTHER("9") ONE("10") OTHER("11")
#define TROUPE_LOOP(START, BODY, END)                                                                               \
  __asm__ volatile(START "\n1:\n" BODY BODY "dec %[rounds]\njnz 1b\n" END                                           \
                   : [rounds] "+r"(rounds)                                                                          \
                   : [one] "m"(one)                                                                                 \
                   : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                     "xmm11", "xmm14", "xmm15")

constexpr std::int64_t instructions_of_a_round = 24;
constexpr double one = 1;

void run_avx512(std::int64_t rounds) {
#define TROUPE_START(N) "vbroadcastsd %[one], %%zmm" N "\n"
#define TROUPE_STEP(N) "vfmadd231pd %%zmm14, %%zmm15, %%zmm" N "\n"
  TROUPE_LOOP(TROUPE_TWELVE(TROUPE_START) TROUPE_START("14") TROUPE_START("15"), TROUPE_TWELVE(TROUPE_STEP),
              "vzeroupper");
#undef TROUPE_START
#undef TROUPE_STEP
}

void run_avx2(std::int64_t rounds) {
#define TROUPE_START(N) "vbroadcastsd %[one], %%ymm" N "\n"
#define TROUPE_STEP(N) "vfmadd231pd %%ymm14, %%ymm15, %%ymm" N "\n"
  TROUPE_LOOP(TROUPE_TWELVE(TROUPE_START) TROUPE_START("14") TROUPE_START("15"), TROUPE_TWELVE(TROUPE_STEP),
              "vzeroupper");
#undef TROUPE_STEP
}

void run_avx(std::int64_t rounds) {
#define TROUPE_MULTIPLY(N) "vmulpd %%ymm14, %%ymm" N ", %%ymm" N "\n"
#define TROUPE_ADD(N) "vaddpd %%ymm15, %%ymm" N ", %%ymm" N "\n"
  TROUPE_LOOP(TROUPE_TWELVE(TROUPE_START) TROUPE_START("14") TROUPE_START("15"),
              TROUPE_SIX(TROUPE_MULTIPLY, TROUPE_ADD), "vzeroupper");
#undef TROUPE_START
#undef TROUPE_MULTIPLY
#undef TROUPE_ADD
}

void run_sse2(std::int64_t rounds) {
#define TROUPE_START(N) "movsd %[one], %%xmm" N "\nunpcklpd %%xmm" N ", %%xmm" N "\n"
#define TROUPE_MULTIPLY(N) "mulpd %%xmm14, %%xmm" N "\n"
#define TROUPE_ADD(N) "addpd %%xmm15, %%xmm" N "\n"
  TROUPE_LOOP(TROUPE_TWELVE(TROUPE_START) TROUPE_START("14") TROUPE_START("15"),
              TROUPE_SIX(TROUPE_MULTIPLY, TROUPE_ADD), "");
#undef TROUPE_START
#undef TROUPE_MULTIPLY
#undef TROUPE_ADD
}
#undef TROUPE_TWELVE
#undef TROUPE_SIX
#undef TROUPE_LOOP

struct way {
  std::string_view instruction;
  void (*run)(std::int64_t rounds);
  double flops_of_an_instruction;
};

way widest() {
  const x86_processor p = x86_processor::of_this_machine();
  if (p.avx512) return {"AVX-512 FMA", run_avx512, 16};
  if (p.avx2 && p.fma) return {"AVX2 FMA", run_avx2, 8};
  if (p.avx) return {"AVX multiplications and additions", run_avx, 4};
  return {"SSE2 multiplications and additions", run_sse2, 2};
}

}  // namespace

// Divides time into windows and returns the rate of the best one, in which nothing else used these cores. A window
// counts all threads together, because two threads that share a core alternate on its units.
arithmetic_peak measure_peak(int threads, time_span time) {
  constexpr std::int64_t window_ns = 1'000'000;
  constexpr std::int64_t rounds = 2000;  // about 10 us, compared with which reading the clock takes no time
  const way w = widest();
  const auto windows = static_cast<std::size_t>(std::max<std::int64_t>(time.nanoseconds / window_ns, 3));
  std::vector<std::vector<std::int64_t>> done(static_cast<std::size_t>(std::max(threads, 1)),
                                              std::vector<std::int64_t>(windows));
  std::latch all_are_there(1);
  std::int64_t start = 0;
  const auto run = [&](std::vector<std::int64_t>& mine) {
    for (std::size_t at = 0; at < windows; at = static_cast<std::size_t>((now_ns() - start) / window_ns)) {
      w.run(rounds);
      mine[at] += rounds;
    }
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t i = 1; i < done.size(); ++i)
      others.emplace_back([&, i] {
        all_are_there.wait();
        run(done[i]);
      });
    // NOLINTNEXTLINE(bugprone-empty-catch): if no more threads can be made, the peak is that of those made so far
  } catch (const std::system_error&) {
  }
  start = now_ns();
  all_are_there.count_down();
  run(done[0]);
  for (std::thread& t : others) t.join();
  std::int64_t best = 0;
  for (std::size_t at = 1; at < windows; ++at) {  // not the first window, in which threads are still starting
    std::int64_t all = 0;
    for (const auto& thread : done) all += thread[at];
    best = std::max(best, all);
  }
  return {.flops = static_cast<double>(best * instructions_of_a_round) * w.flops_of_an_instruction /
                   (static_cast<double>(window_ns) / 1e9),
          .instruction = w.instruction};
}
#else
arithmetic_peak measure_peak(int, time_span) { return {}; }
#endif

}  // namespace troupe::apps
