// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Ignores SIGCHLD, so that the system reaps workers.
#include "unkind.hpp"

using namespace unkind;

int main() {
  ::signal(SIGCHLD, SIG_IGN);
  runtime rt;
  const device gpu = rt.open_device(options());
  for (int i = 0; i < 20; ++i) {
    kill_worker(gpu);
    expect_works(gpu, "after a fault", i);
  }
  expect(gpu.statistics().faults >= 10, "workers were lost");
  return exit_code();
}
