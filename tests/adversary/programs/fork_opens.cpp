// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Forks a child that opens a device of its own while the parent has one.
#include "unkind.hpp"

using namespace unkind;

int main() {
  runtime rt;
  const device gpu = rt.open_device(options());
  expect_works(gpu, "before");
  const pid_t child = ::fork();
  if (child == 0) {
    {
      runtime own;
      const device mine = own.open_device(options());
      for (int i = 0; i < 20; ++i) expect_works(mine, "in the child", i);
      kill_worker(mine);
      expect_works(mine, "in the child after a fault");
    }
    ::_exit(exit_code());
  }
  for (int i = 0; i < 50; ++i) expect_works(gpu, "in the parent", i);
  expect_exit(child, "the child with its own device");
  expect_works(gpu, "after the child");
  return exit_code();
}
