// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A daemon without descriptors 0, 1 and 2, in all combinations; kernels print and programs compile.
#include <fcntl.h>

#include <troupe/jit/jit.hpp>

#include "unkind.hpp"

using namespace unkind;

constexpr const char* source = R"(#include <cstdio>
__global__ void talk(int* x) { for (int i = 0; i < 3000; ++i) printf("hello from a kernel %d\n", i); *x = 7; })";

int main() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int report = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
  for (int closed = 1; closed < 8; ++closed) {
    const int code = exit_code_of([&] {
      for (int fd = 0; fd < 3; ++fd)
        if ((closed >> fd & 1) != 0) {
          ::close(fd);
        } else {
          ::dup2(null, fd);
        }
      runtime rt;
      const device gpu = rt.open_device(options());
      int bad = !why_broken(gpu).empty();
      // New text each time, so that it is compiled and not read from the cache.
      const std::string compiled = std::string(source) + "// " + std::to_string(::getpid());
      const auto program = jit::compile(gpu, {.source = closed % 2 != 0 ? compiled : source});
      const auto talk = program.kernel<void(inout<int>)>("talk");
      const auto x = gpu.upload(std::vector<int>{1});
      for (int i = 0; i < 5; ++i) {
        gpu.tell(talk(1, 1)(x));
        const auto got = gpu.download(x).get();
        if (got && got->front() == 7) continue;
        ++bad;
        if (!got) ::dprintf(report, "%s\n", got.error().to_string().c_str());
      }
      return bad + (gpu.statistics().faults != 0);
    });
    expect(code == 0, "without descriptors " + std::to_string(closed) + " (bits): code " + std::to_string(code));
  }
  return exit_code();
}
