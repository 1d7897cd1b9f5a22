// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A server that forks its children first. Each opens a device, one of them crashes, and the parent opens a device, too.
#include "unkind.hpp"

using namespace unkind;

int main() {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    {
      static runtime rt;
      const device gpu = rt.open_device(options());
      for (int k = 0; k < 20; ++k) expect_works(gpu, "in a child", i * 100 + k);
      if (i == 3) ::raise(SIGKILL);
    }
    std::exit(exit_code());
  }
  {
    runtime rt;
    const device gpu = rt.open_device(options());
    for (int k = 0; k < 20; ++k) expect_works(gpu, "in the parent", k);
  }
  for (int i = 0; i < 3; ++i) expect_exit(children[static_cast<std::size_t>(i)], "a child of the server");
  int status = 0;
  ::waitpid(children[3], &status, 0);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child that kills itself does");
  return exit_code();
}
