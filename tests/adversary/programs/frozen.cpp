// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The application and its worker are stopped for two seconds, as when a container is paused.
#include "unkind.hpp"

using namespace unkind;

int main() {
  for (const bool both : {true, false}) {
    int ends[2];
    if (::pipe(ends) != 0) return 2;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      runtime rt;
      device_options o = options();
      o.heartbeat_timeout = 1s;
      o.run_timeout = 1500ms;
      const device gpu = rt.open_device(o);
      (void)gpu.started().get();
      const int worker = gpu.statistics().worker_pid.value_or(0);
      (void)!::write(ends[1], &worker, sizeof worker);
      const auto end = std::chrono::steady_clock::now() + 6s;
      int bad = 0;
      while (std::chrono::steady_clock::now() < end)
        if (const auto answer = gpu.ask(testing_actor::nap{.microseconds = 200'000}).get(); !answer) {
          ++bad;
          std::fprintf(stderr, "lost: %s\n", answer.error().to_string().c_str());
        }
      if (const auto f = gpu.last_fault()) std::fprintf(stderr, "fault: %s\n", f->text().c_str());
      ::_exit(bad != 0 ? 1 : gpu.statistics().faults != 0 ? 2 : 0);
    }
    int worker = 0;
    if (::read(ends[0], &worker, sizeof worker) != sizeof worker || worker <= 1) return 2;
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(300ms);
      ::kill(child, SIGSTOP);
      if (both) ::kill(worker, SIGSTOP);
      std::this_thread::sleep_for(2s);
      if (both) ::kill(worker, SIGCONT);
      ::kill(child, SIGCONT);
    }
    expect_exit(child, both ? "an application frozen with its worker (1: requests lost, 2: healthy worker replaced)"
                            : "a frozen application (1: requests lost, 2: healthy worker replaced)");
  }
  return exit_code();
}
