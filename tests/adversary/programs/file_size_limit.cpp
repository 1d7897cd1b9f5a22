// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Sets ulimit -f. Memory files are subject to it, and its signal must not end the program.
#include <sys/resource.h>

#include "unkind.hpp"

using namespace unkind;

int main() {
  for (const rlim_t most : {rlim_t{0}, rlim_t{4096}, rlim_t{64} << 10, rlim_t{2} << 20, rlim_t{200} << 20}) {
    const int code = exit_code_of([most] {
      const rlimit few{.rlim_cur = most, .rlim_max = most};
      ::setrlimit(RLIMIT_FSIZE, &few);
      device_options o = options();
      o.memory_limit = std::uint64_t{1} << 30;
      runtime rt;
      const device gpu = rt.open_device(o);
      const std::string why = why_broken(gpu, 1, 15s);
      if (why == "no answer" || why == "wrong data") return 1;
      const auto x = gpu.alloc<float>(100'000'000);  // 400 MB, which exceeds each of the limits
      const auto filled = gpu.fill(x, 1.0f).get();
      if (filled) return 2;
      if (most >= rlim_t{200} << 20 && !why.empty()) return 3;
      return filled.error().reaction() == reaction::fatal ? 4 : 0;
    });
    expect(code == 0, "ulimit -f " + std::to_string(most) + " bytes: code " + std::to_string(code) + " (153: SIGXFSZ)");
  }
  return exit_code();
}
