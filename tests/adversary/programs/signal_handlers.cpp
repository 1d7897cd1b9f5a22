// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A slow signal handler of the program must run on the program's threads only, never on a thread of the library.
#include <sys/syscall.h>

#include <atomic>

#include "unkind.hpp"

using namespace unkind;

std::atomic<int> foreign{0};
pid_t allowed[4];
std::atomic<int> known{0};

void note_thread(int) {
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  for (int i = 0; i < known; ++i)
    if (allowed[i] == self) return;
  ++foreign;
}

int main() {
  allowed[known++] = static_cast<pid_t>(::syscall(SYS_gettid));
  ::signal(SIGUSR1, note_thread);
  runtime rt;
  const device gpu = rt.open_device(options());
  expect_works(gpu, "before");
  sigset_t handled;
  ::sigemptyset(&handled);
  ::sigaddset(&handled, SIGUSR1);
  for (int i = 0; i < 200; ++i) {
    // Blocks the signal on this thread for a moment: the program has no other thread that could receive it.
    ::pthread_sigmask(SIG_BLOCK, &handled, nullptr);
    ::kill(::getpid(), SIGUSR1);
    (void)gpu.ping().get();
    ::pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
  }
  expect(foreign == 0, std::to_string(foreign) + " of 200 handlers ran on a thread of the library");
  return exit_code();
}
