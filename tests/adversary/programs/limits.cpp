// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Sets ulimit -u, -v, -l and -s. The device must serve or fail with typed errors, without a hang or a crash.
#include <sys/resource.h>

#include "unkind.hpp"

using namespace unkind;

int run_with(int which, rlim_t most, bool as_nobody) {
  return exit_code_of([&] {
    if (as_nobody && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return skipped;
    if (as_nobody && ::access(TROUPE_TEST_ENGINE_FOLDER, R_OK | X_OK) != 0) return skipped;
    const rlimit few{.rlim_cur = most, .rlim_max = most};
    ::setrlimit(static_cast<__rlimit_resource>(which), &few);
    runtime rt;
    const device gpu = rt.open_device(limited_options());
    const std::string why = why_broken(gpu, 1, 15s);
    return why == "no answer" || why == "wrong data" ? 1 : 0;
  });
}

int main() {
  int tested = 0;
  const auto expect_none_hangs = [&](const char* name, int which, rlim_t most, bool as_nobody) {
    const int code = run_with(which, most, as_nobody);
    tested += code != skipped;
    expect(code == 0 || code == skipped,
           std::string(name) + " " + std::to_string(most) + ": code " + std::to_string(code));
  };
  for (const rlim_t most : {0, 1, 2, 4, 8}) expect_none_hangs("ulimit -u", RLIMIT_NPROC, most, ::getuid() == 0);
  for (const rlim_t mib : {64, 200, 600, 2000}) expect_none_hangs("ulimit -v", RLIMIT_AS, mib << 20, false);
  expect_none_hangs("ulimit -l", RLIMIT_MEMLOCK, 0, false);
  for (const rlim_t kib : {64, 256}) expect_none_hangs("ulimit -s", RLIMIT_STACK, kib << 10, false);
  expect_none_hangs("ulimit -d", RLIMIT_DATA, 64 << 20, false);
  expect_none_hangs("ulimit -i", RLIMIT_SIGPENDING, 0, false);
  std::fprintf(stderr, "%d limits tested\n", tested);
  return tested < 9 ? skip("too few of the limits could be set") : exit_code();
}
