// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Forks children that only call exit(), which destroys their copy of a static runtime.
#include "unkind.hpp"

using namespace unkind;

int main() {
  static runtime rt;
  static const device gpu = rt.open_device(options());
  expect_works(gpu, "before");
  for (int i = 0; i < 5; ++i) {
    auto slow = gpu.ask(testing_actor::nap{.microseconds = 100'000});
    failing_requests failing(gpu, 8);
    const pid_t child = ::fork();
    if (child == 0) std::exit(0);
    expect_exit(child, "a child that calls exit()", 5s);
    (void)slow.get_for(10s);
    failing.expect_failures("after a child's exit()");
  }
  expect_works(gpu, "after five children");
  expect(gpu.statistics().faults == 0, "no worker was lost");
  return exit_code();
}
