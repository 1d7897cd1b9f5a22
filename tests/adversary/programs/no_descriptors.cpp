// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// No descriptor is free while a worker dies; later there are free ones again.
#include <fcntl.h>
#include <sys/resource.h>

#include "unkind.hpp"

using namespace unkind;

int test_with(std::uint32_t standbys) {
  device_options o = options();
  o.restarts = 3;
  o.standbys = standbys;
  runtime rt;
  const device gpu = rt.open_device(o);
  expect_works(gpu, "before");
  const auto seen = gpu.statistics();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> fill;
  for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) fill.push_back(fd);
  for (const int pid : seen.standby_pids) ::kill(pid, SIGKILL);
  if (seen.worker_pid) ::kill(*seen.worker_pid, SIGKILL);
  std::this_thread::sleep_for(2s);  // the shortage passes by itself
  for (const int fd : fill) ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &before);
  const auto begun = std::chrono::steady_clock::now();
  expect_works(gpu, "once descriptors are free again, with " + std::to_string(standbys) + " standbys");
  expect(std::chrono::steady_clock::now() - begun < 2s, "it serves again soon");
  expect(gpu.state() != device_state::stopped, "the device has not stopped");
  return exit_code();
}

int main() {
  const int code = exit_code_of([] { return test_with(0) + test_with(1); });
  expect(code == 0, "a temporary shortage of descriptors; code " + std::to_string(code));
  for (const rlim_t most : {8, 12, 16, 24, 32, 48}) {
    const int limited = exit_code_of([most] {
      const rlimit few{.rlim_cur = most, .rlim_max = most};
      ::setrlimit(RLIMIT_NOFILE, &few);
      runtime rt;
      const device gpu = rt.open_device(limited_options());
      return why_broken(gpu, 1, 15s) == "no answer" ? 1 : 0;
    });
    expect(limited == 0, "ulimit -n " + std::to_string(most) + ": code " + std::to_string(limited));
  }
  return exit_code();
}
