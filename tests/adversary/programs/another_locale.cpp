// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The program's locale groups digits and uses decimal commas, both in C and in C++.
#include <clocale>
#include <locale>
#include <troupe/jit/jit.hpp>

#include "unkind.hpp"

using namespace unkind;

struct grouped : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
  std::string do_truename() const override { return "wahr"; }
};

int main() {
  std::locale::global(std::locale(std::locale::classic(), new grouped));
  for (const char* name : {"de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8"}) (void)std::setlocale(LC_ALL, name);
  runtime rt;
  device_options o = options();
  o.memory_limit = 1'234'567'890;
  const device gpu = rt.open_device(o);
  expect_works(gpu, "in another locale");
  const auto program = jit::compile(gpu, {.source = R"(__global__ void f(float* x) { x[threadIdx.x] = 1234.5f; }
__global__ void g(float* x) { x[0] = 0.25f; })",
                                          .options = {"-DVALUE=1000"}});
  const auto f = program.kernel<void(inout<float>)>("f");
  const auto x = gpu.alloc<float>(2000, {.zeroed = true});
  gpu.tell(f(1, 1024)(x));
  const auto got = gpu.download(x).get();
  expect(got && (*got)[1023] == 1234.5f, got ? "a kernel's value is right" : got.error().to_string());
  kill_worker(gpu);
  expect_works(gpu, "after a fault in another locale");
  const auto failed = gpu.ask(testing_actor::fail{.how = reaction::unsupported, .code = 1'234'567, .text = "t"}).get();
  expect(!failed && failed.error().code() == 1'234'567, "an error's code is right");
  return exit_code();
}
