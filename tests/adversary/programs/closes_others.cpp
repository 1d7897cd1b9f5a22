// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// closefrom(3) after the device was opened: an error or silence, but no thread that spins, and no hang.
#include <ctime>

#include "unkind.hpp"

using namespace unkind;

int main() {
  const int code = exit_code_of([] {
    auto* const rt = new runtime;
    auto* const gpu = new device(rt->open_device(options()));
    expect_works(*gpu, "before");
    for (int fd = 3; fd < 4096; ++fd) ::close(fd);
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(1s);
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    expect(seconds < 0.3, "an idle second costs " + std::to_string(seconds) + " s of the processor");
    (void)gpu->ping().get_for(5s);
    return exit_code();
  });
  expect(code == 0, "a program that closes all descriptors goes on; code " + std::to_string(code));
  return exit_code();
}
