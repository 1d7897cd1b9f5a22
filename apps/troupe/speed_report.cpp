// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <algorithm>
#include <apps/troupe/speed_report.hpp>
#include <charconv>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/gemm.hpp>
#include <troupe/runtime/runtime.hpp>

namespace troupe::apps {
namespace {

using namespace std::chrono_literals;

// A product of this extent takes about a millisecond on one core, so some of many are not interrupted by other
// programs.
constexpr std::int64_t n = 384;

// Pins this thread to one core for its lifetime, because cores may have different speeds.
class on_core {
 public:
  explicit on_core(int core) noexcept {
    kept_ = ::sched_getaffinity(0, sizeof before_, &before_) == 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    (void)::sched_setaffinity(0, sizeof one, &one);
  }
  on_core(const on_core&) = delete;
  ~on_core() {
    if (kept_) (void)::sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool kept_ = false;
};

// Measures products and the peak alternately, so that both are measured at times without other load.
result<void> measure(speed_report& s, const device& on, int core) {
  TROUPE_TRY(on.started().get());
  const buffer<double> a = on.alloc<double>(n * n), b = on.alloc<double>(n * n), c = on.alloc<double>(n * n);
  on.fill(a, 1.0);
  on.fill(b, 2.0);
  const on_core here(core);
  const std::int64_t begin = now_ns();
  for (int i = 0; i < 5 || (i < 40 && now_ns() - begin < 200'000'000); ++i) {
    const arithmetic_peak peak = measure_peak(1, 3ms);
    if (peak.flops >= s.peak.flops) s.peak = peak;
    const std::int64_t start = now_ns();
    TROUPE_TRY(on.ask(blas::gemm<double>{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n}).get());
    s.flops = std::max(s.flops, 2. * n * n * n / (static_cast<double>(now_ns() - start) / 1e9));
  }
  s.n = n;
  return {};
}

}  // namespace

std::string speed_report::remedy() const {
  if (std::string one = choice.remedy(kernels); !one.empty() && !kernels.empty()) return one;
  if (!is_slow()) return {};
  return "stop other computations on this machine, and measure again";
}

void read_notes(speed_report& s, const std::vector<std::string>& notes) {
  static constexpr std::string_view threads = "threads: ", kernels = "kernels: ";
  for (const std::string& note : notes) {
    if (note.starts_with(threads)) std::from_chars(note.data() + threads.size(), note.data() + note.size(), s.threads);
    if (note.starts_with(kernels)) s.kernels = note.substr(kernels.size(), note.find(',') - kernels.size());
  }
}

speed_report measure_speed(const installation& here, const std::vector<std::string>& engine_folders,
                           const engine_report& blas) {
  speed_report s;
  s.choice = kernel_choice::here();
  read_notes(s, blas.notes);
  runtime rt;
  const int core = std::max(::sched_getcpu(), 0);
  const device on = rt.open_device({.libraries = {"blas"},
                                    .standbys = 0,
                                    .start_timeout = 10s,
                                    .close_timeout = 10s,
                                    .worker_cores = {core},
                                    .runtime_folder = here.runtime,
                                    .engine_folders = engine_folders});
  if (auto done = measure(s, on, core); !done)
    s.why = done.error().text();
  else
    s.measured = true;
  if (auto closed = on.close().get(); !closed && s.why.empty()) s.why = closed.error().text(), s.measured = false;
  return s;
}

}  // namespace troupe::apps
