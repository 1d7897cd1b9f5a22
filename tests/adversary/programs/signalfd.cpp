// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Blocks signals and reads them from a descriptor after the device was opened, as services do.
#include <poll.h>
#include <sys/signalfd.h>

#include "unkind.hpp"

using namespace unkind;

int main() {
  const int code = exit_code_of([] {
    runtime rt;
    const device gpu = rt.open_device(options());
    expect_works(gpu, "before");
    sigset_t handled;
    ::sigemptyset(&handled);
    for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGALRM}) ::sigaddset(&handled, signal);
    ::pthread_sigmask(SIG_BLOCK, &handled, nullptr);
    const int fd = ::signalfd(-1, &handled, 0);
    for (const int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGALRM}) {
      ::kill(::getpid(), signal);
      signalfd_siginfo got{};
      pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
      if (::poll(&readable, 1, 5000) != 1) return 1;
      if (::read(fd, &got, sizeof got) != sizeof got || static_cast<int>(got.ssi_signo) != signal) return 1;
      expect_works(gpu, "after a signal");
    }
    kill_worker(gpu);  // a recovery starts threads, which must not receive signals either
    expect_works(gpu, "after a fault");
    ::kill(::getpid(), SIGUSR1);
    signalfd_siginfo got{};
    if (::read(fd, &got, sizeof got) != sizeof got) return 1;
    return exit_code();
  });
  expect(code == 0,
         "signals that every thread of the program blocks reach its descriptor; code " + std::to_string(code));
  return exit_code();
}
