// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Lets each system call of the application's side fail once, with each error that is documented for it. Each case runs
// in a process of its own. failing_calls [--seconds N | --all] [--seed N] [--case CALL NUMBER ERRNO]
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "failing.hpp"
#include "scenario.hpp"

namespace failing {
namespace {

// The report of a child.
struct child_report {
  bool failed;
  double armed_ms;
  std::array<int, call_count> counts;
  char why[400];
};

// Runs one case. Returns which expectation does not hold, or an empty text.
std::string run_case(const choice& c, double probe_ms, child_report& shared) {
  shared = {};
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    arm(c);
    const std::string why = run_scenario(probe_ms, shared.armed_ms);
    shared.failed = disarm();
    shared.counts = counts();
    std::snprintf(shared.why, sizeof shared.why, "%s", why.c_str());
    ::_exit(0);
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<int>(4 * longest_answer_ms));
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return "the application hangs";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFSIGNALED(status)) return std::string("the application is killed: ") + ::strsignal(WTERMSIG(status));
  return shared.why;
}

struct settings {
  double seconds = 30;
  bool all = false;
  std::uint64_t seed = 0;
  choice only;
};

std::vector<choice> cases_of(const child_report& control, std::uint64_t seed) {
  constexpr int most_of_a_kind = 60;  // later calls repeat what the earlier ones do
  std::vector<choice> all;
  for (int i = 0; i < call_count; ++i) {
    const auto which = static_cast<call>(i);
    for (const int error : errors_of(which))
      for (int n = 1; n <= std::min(control.counts[static_cast<std::size_t>(i)], most_of_a_kind); ++n)
        all.push_back({which, n, error});
  }
  std::shuffle(all.begin(), all.end(), std::mt19937_64(seed));
  // Sorts kinds with few calls first, so that a short run includes each kind.
  std::stable_sort(all.begin(), all.end(),
                   [](const choice& a, const choice& b) { return a.number / 4 < b.number / 4; });
  return all;
}

int run(const settings& s, child_report& shared) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(s.seed));
  if (std::string why = run_case({}, 0, shared); !why.empty())
    return std::printf("nothing works without a failing call: %s\n", why.c_str()), 1;
  const child_report control = shared;
  // One second, or longer if the machine is slow or busy.
  const double probe_ms = 1000 + 5 * control.armed_ms;
  for (int i = 0; i < call_count; ++i)
    std::printf("%-16s %d calls\n", name_of(static_cast<call>(i)), control.counts[static_cast<std::size_t>(i)]);
  std::vector<choice> cases = cases_of(control, s.seed);
  if (s.only.which != call::count) cases = {s.only};
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(s.seconds);
  int tried = 0, failed = 0, broken = 0;
  for (const choice& c : cases) {
    if (!s.all && tried != 0 && std::chrono::steady_clock::now() > end) break;
    const std::string why = run_case(c, probe_ms, shared);
    ++tried;
    failed += shared.failed;
    if (why.empty()) continue;
    ++broken;
    std::printf("BROKE --case %s %d %d (%s): %s\n", name_of(c.which), c.number, c.error, ::strerrorname_np(c.error),
                why.c_str());
    std::fflush(stdout);
  }
  std::printf("%d of %zu cases tried, in %d of them the call was made, %d broken\n", tried, cases.size(), failed,
              broken);
  return broken == 0 && failed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace failing

int main(int argc, char** argv) {
  using namespace failing;
  settings s;
  s.seed = std::random_device{}();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--all")
      s.all = true;
    else if (word == "--seconds" && i + 1 < argc)
      s.seconds = std::strtod(argv[++i], nullptr);
    else if (word == "--seed" && i + 1 < argc)
      s.seed = std::strtoull(argv[++i], nullptr, 0);
    else if (word == "--case" && i + 3 < argc) {
      for (int k = 0; k < call_count; ++k)
        if (std::string_view(name_of(static_cast<call>(k))) == argv[i + 1]) s.only.which = static_cast<call>(k);
      s.only.number = std::atoi(argv[i + 2]);
      s.only.error = std::atoi(argv[i + 3]);
      i += 3;
    } else
      return std::fputs("failing_calls [--seconds N | --all] [--seed N] [--case CALL NUMBER ERRNO]\n", stderr), 2;
  }
  void* const at = ::mmap(nullptr, sizeof(child_report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return std::perror("mmap"), 2;
  return run(s, *static_cast<child_report*>(at));
}
