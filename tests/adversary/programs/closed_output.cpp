// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Standard output is a pipe that its reader has closed; kernels and the program print.
#include <troupe/jit/jit.hpp>

#include "unkind.hpp"

using namespace unkind;

int main() {
  for (const bool ignores : {true, false}) {
    const int code = exit_code_of([ignores] {
      if (ignores) ::signal(SIGPIPE, SIG_IGN);
      int ends[2];
      if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) return 2;
      ::close(ends[1]);
      ::close(ends[0]);
      runtime rt;
      const device gpu = rt.open_device(options());
      const auto program = jit::compile(gpu, {.source = R"(#include <cstdio>
__global__ void talk(int* x) { for (int i = 0; i < 3000; ++i) printf("hello %d\n", i); *x = 7; })"});
      const auto talk = program.kernel<void(inout<int>)>("talk");
      for (int i = 0; i < 3; ++i) {
        const auto x = gpu.upload(std::vector<int>{1});
        gpu.tell(talk(1, 1)(x));
        const auto got = gpu.download(x).get_for(30s);
        expect(got.has_value(), "a launch that prints has an answer");
        expect(got && (*got ? (*got)->front() == 7 : got->error().reaction() == reaction::context_lost),
               "it is right or lost");
      }
      expect_works(gpu, "without a reader of the output");
      return exit_code();
    });
    expect(code == 0,
           std::string("SIGPIPE ") + (ignores ? "ignored" : "by default") + ": code " + std::to_string(code));
  }
  return exit_code();
}
