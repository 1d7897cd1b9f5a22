// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Changes the root to an empty folder after the device was opened: the standby serves, but later workers cannot start.
#include "unkind.hpp"

using namespace unkind;

int main() {
  if (::getuid() != 0) return skip("chroot needs root");
  char folder[] = "/tmp/troupe-unkind-XXXXXX";
  if (::mkdtemp(folder) == nullptr) return 2;
  const int code = exit_code_of([&folder] {
    device_options o = options();
    o.restarts = 3;
    o.start_timeout = 2s;
    runtime rt;
    const device gpu = rt.open_device(o);
    expect_works(gpu, "before");
    while (gpu.statistics().standby_pids.empty()) std::this_thread::sleep_for(2ms);
    if (::chroot(folder) != 0 || ::chdir("/") != 0) return skipped;
    expect_works(gpu, "in another root");
    kill_worker(gpu);
    const auto first = gpu.ping().get_for(10s);
    expect(first.has_value(), "a request after the first fault has an answer");
    if (const auto pid = gpu.statistics().worker_pid) ::kill(*pid, SIGKILL);
    auto second = gpu.ping();
    const auto got = second.get_for(20s);
    expect(got.has_value(), "a request after the second fault has an answer");
    expect(got && !*got && !got->error().text().empty(), "the error says why no worker starts");
    return exit_code();
  });
  ::rmdir(folder);
  if (code == skipped) return skip("chroot is not permitted");
  expect(code == 0, "code " + std::to_string(code));
  return exit_code();
}
