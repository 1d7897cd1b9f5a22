// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A thread and a signal handler reap every child of the program, including workers.
#include <atomic>
#include <cerrno>

#include "unkind.hpp"

using namespace unkind;

void reap(int) {
  const int before = errno;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  errno = before;
}

int main() {
  ::signal(SIGCHLD, reap);
  std::atomic<bool> end{false};
  std::thread reaper([&] {
    while (!end)
      if (::waitpid(-1, nullptr, 0) < 0) std::this_thread::sleep_for(1ms);
  });
  {
    runtime rt;
    const device gpu = rt.open_device(options());
    for (int i = 0; i < 20; ++i) {
      kill_worker(gpu);
      expect_works(gpu, "after a fault", i);
    }
  }
  end = true;
  reaper.join();
  return exit_code();
}
