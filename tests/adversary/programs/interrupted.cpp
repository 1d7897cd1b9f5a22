// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A timer interrupts the program's calls thousands of times per second; the handler has no SA_RESTART.
#include <sys/time.h>

#include "unkind.hpp"

using namespace unkind;

int main() {
  struct sigaction act{};
  act.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &act, nullptr);
  const itimerval often{.it_interval = {0, 300}, .it_value = {0, 300}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  {
    runtime rt;
    const device gpu = rt.open_device(options());
    for (int i = 0; i < 100; ++i) {
      expect_works(gpu, "while interrupted", i);
      failing_requests(gpu, 2).expect_failures("while interrupted");
      if (i % 10 == 0) kill_worker(gpu);
      const std::vector<float> large(300'000, static_cast<float>(i));
      const auto got = gpu.download(gpu.upload(large)).get();
      expect(got ? *got == large : got.error().reaction() == reaction::context_lost,
             "large transfers while interrupted");
    }
  }
  const itimerval off{};
  ::setitimer(ITIMER_REAL, &off, nullptr);
  return exit_code();
}
