// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Calls setsid, deletes its working folder, sets umask 0777, and changes its environment continuously.
#include <sys/stat.h>

#include <atomic>
#include <troupe/jit/jit.hpp>

#include "unkind.hpp"

using namespace unkind;

int main() {
  const int code = exit_code_of([] {
    runtime rt;
    const device gpu = rt.open_device(options());
    expect_works(gpu, "before");
    ::setsid();
    char folder[] = "/tmp/troupe-unkind-XXXXXX";
    if (::mkdtemp(folder) == nullptr || ::chdir(folder) != 0 || ::rmdir(folder) != 0) return 2;
    ::umask(0777);
    ::setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    ::setenv("TMPDIR", "/nowhere", 1);
    ::setenv("PATH", "", 1);
    std::atomic<bool> end{false};
    std::thread changes([&] {
      for (int i = 0; !end; ++i) {
        ::setenv(("TROUPE_UNKIND_" + std::to_string(i % 50)).c_str(), "value", 1);
        ::unsetenv(("TROUPE_UNKIND_" + std::to_string((i + 25) % 50)).c_str());
      }
    });
    for (int i = 0; i < 10; ++i) {
      kill_worker(gpu);
      expect_works(gpu, "in other surroundings", i);
    }
    end = true;
    changes.join();
    const auto program =
        jit::compile(gpu, {.source = "__global__ void f(int* x) { *x = 7; } // " + std::to_string(::getpid())});
    const auto f = program.kernel<void(inout<int>)>("f");
    const auto x = gpu.upload(std::vector<int>{1});
    gpu.tell(f(1, 1)(x));
    const auto got = gpu.download(x).get_for(60s);
    expect(got.has_value(), "a launch has an answer");
    // Without PATH and TMPDIR, a compiler may be missing; the error then says so.
    expect(got && (*got ? (*got)->front() == 7 : got->error().reaction() != reaction::fatal),
           "the launch is right or fails with a reaction other than fatal");
    return exit_code();
  });
  expect(code == 0, "code " + std::to_string(code));
  return exit_code();
}
