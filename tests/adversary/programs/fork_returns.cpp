// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Forks a child that runs the destructors, as the end of main does.
#include "unkind.hpp"

using namespace unkind;

int main() {
  auto* const rt = new runtime;
  auto* const gpu = new device(rt->open_device(options()));
  expect_works(*gpu, "before");
  auto pending_in_both = gpu->ask(testing_actor::nap{.microseconds = 200'000});
  const pid_t child = ::fork();
  if (child == 0) {
    delete gpu;
    delete rt;
    ::_exit(0);
  }
  expect_exit(child, "a child that destroys the runtime", 5s);
  expect(pending_in_both.get().has_value(), "the parent's request succeeds");
  expect_works(*gpu, "after the child");
  expect(gpu->statistics().faults == 0, "no worker was lost");
  delete gpu;
  delete rt;
  return exit_code();
}
