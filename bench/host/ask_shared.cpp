// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Round trips on shared cores: a thread that polls for an answer must not keep the thread that computes it from its
// core.
#include <sys/resource.h>
#include <array>
#include <atomic>
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/placement.hpp>
#include <cstdio>
#include <memory>
#include <thread>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

constexpr int pings_a_round = 300;

// Other load: a thread that computes on each of the first cores.
class neighbours {
 public:
  neighbours(int count, int nice) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this, i, nice] {
        placement::join_others(i == 0 ? placement::where::one_core : placement::where::two_cores);
        ::setpriority(PRIO_PROCESS, 0, nice);  // applies to this thread only
        for (std::uint64_t n = 0; !over_.load(std::memory_order_relaxed); ++n)
          sink_.store(n, std::memory_order_relaxed);
      });
  }
  ~neighbours() {
    over_.store(true);
    for (std::thread& t : threads_) t.join();
  }
  neighbours(const neighbours&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> sink_{0};
  std::vector<std::thread> threads_;
};

struct policy_under_test {
  wait_policy policy;
  std::unique_ptr<device_under_test> gpu;
  std::vector<double> means = {};

  // Adds the microseconds of each ping in a round.
  void round(placement::where w) {
    const placement placed(w, {(*gpu)->statistics().worker_pid.value()});
    for (int i = 0; i < 20; ++i) (*gpu)->ping().get().value();
    const std::int64_t start = now_ns();
    for (int i = 0; i < pings_a_round; ++i) (*gpu)->ping().get().value();
    means.push_back(static_cast<double>(now_ns() - start) / 1000 / pings_a_round);
  }
  double mean() const {
    double sum = 0;
    for (const double m : means) sum += m;
    return sum / static_cast<double>(means.size());
  }
};

using policies = std::array<policy_under_test, 3>;  // the last policy never spins

std::string text(const char* where, const policies& all) {
  std::string out = where;
  for (const policy_under_test& p : all) {
    char one[80];
    std::snprintf(one, sizeof one, " %s %.2f us (median of rounds %.2f)", std::string(to_string(p.policy)).c_str(),
                  p.mean(), median(p.means));
    out += one;
  }
  return out;
}

}  // namespace

figures run_ask_shared(const settings& s) {
  if (usable_cores() < 2) throw bad_result(error(reaction::unsupported, "bench", "one core: waiting never spins here"));
  policies all{{{wait_policy::latency, nullptr}, {wait_policy::balanced, nullptr}, {wait_policy::efficient, nullptr}}};
  for (policy_under_test& p : all) p.gpu = std::make_unique<device_under_test>(s, device_options{.wait = p.policy});
  struct setting {
    const char* name;
    placement::where where;
    int busy, nice;
  };
  figures worst;
  for (const setting& now : {setting{"on one core:", placement::where::one_core, 0, 0},
                             setting{"on one core with a busy thread:", placement::where::one_core, 1, 0},
                             setting{"on two with two busy threads:", placement::where::two_cores, 2, 0},
                             setting{"on two with two threads of low priority:", placement::where::two_cores, 2, 10}}) {
    const neighbours busy(now.busy, now.nice);
    for (policy_under_test& p : all) p.means.clear();
    for (int i = 0; i < s.rounds(21); ++i)
      for (policy_under_test& p : all) p.round(now.where);
    worst.note += (worst.note.empty() ? "" : "; ") + text(now.name, all);
    const double raw = all.back().mean();
    for (const policy_under_test& p : all)
      if (const double ours = p.mean(); worst.raw == 0 || ours / raw > worst.ratio())
        worst.ours = ours, worst.raw = raw;
  }
  return worst;
}

}  // namespace troupe::bench
