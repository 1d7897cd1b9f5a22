// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Forks children while other threads send requests. The children end in different ways.
#include <atomic>

#include "unkind.hpp"

using namespace unkind;

int main() {
  static runtime rt;
  static const device gpu = rt.open_device(options());
  expect_works(gpu, "before");
  std::atomic<bool> end{false};
  std::atomic<int> broken{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 3; ++c)
    clients.emplace_back([&, c] {
      for (int i = 0; !end; ++i) broken += !why_broken(gpu, i * 3 + c).empty();
    });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (i % 3 == 0) std::exit(0);
      if (i % 3 == 1) ::_exit(0);
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    expect_exit(child, "child " + std::to_string(i), 5s);
  }
  end = true;
  for (auto& c : clients) c.join();
  expect(broken == 0, std::to_string(broken) + " results are wrong or missing");
  expect(gpu.statistics().faults == 0, "no worker was lost");
  return exit_code();
}
