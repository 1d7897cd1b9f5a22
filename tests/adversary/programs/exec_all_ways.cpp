// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Starts other programs in all ways while the device serves. They must inherit nothing.
#include <spawn.h>

#include <atomic>

#include "unkind.hpp"

using namespace unkind;

extern char** environ;

int main() {
  runtime rt;
  const device gpu = rt.open_device(options());
  expect_works(gpu, "before");
  const char* const script =
      "for f in /proc/$$/fd/*; do readlink $f; done | grep -E 'troupe|anon_inode|socket' && exit 1; exit 0";
  const char* const argv[] = {"sh", "-c", script, nullptr};
  std::atomic<bool> end{false};
  std::thread client([&] {
    for (int i = 0; !end; ++i) expect_works(gpu, "while programs start", i);
  });
  for (int i = 0; i < 10; ++i) {
    pid_t child = ::vfork();
    if (child == 0) {
      ::execv("/bin/sh", const_cast<char**>(argv));
      ::_exit(9);
    }
    expect_exit(child, "a program started by vfork and exec");
    if (::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char**>(argv), environ) == 0)
      expect_exit(child, "a program started by posix_spawn");
    expect(std::system("exit 0") == 0, "system()");
  }
  end = true;
  client.join();
  expect(gpu.statistics().faults == 0, "no worker was lost");
  return exit_code();
}
