// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// All forms of recipes, written in place inside co_await: headers, definitions, templates, options, units, the log.
#include <cstdio>
#include <string>
#include <troupe/graph/graph.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr const char* source = R"(
#include "the header of the first number.h"
#include "two.h"
#ifndef FACTOR
#error "FACTOR is not defined"
#endif

template <class T, int Add>
__global__ void affine(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = T(FACTOR) * x[i] + T(Add) + one<T>() - two<T>();
}
)";
constexpr const char* warns = R"(
__global__ void warned(int* x) {
  #warning "the compiler says this"
  *x = 42;
}
)";

task<result<int>> all(device gpu) {
  const int n = 300;
  int wrong = 0;
  auto f = gpu.alloc<float>(n);
  auto d = gpu.alloc<double>(n);
  gpu.fill(f, 1.0f);
  gpu.fill(d, 1.0);

  co_await gpu.ask(jit::launch{
      .kernel = jit::compile(gpu, {.source = source,
                                   .name = "a name that is longer than sixteen characters.cu",
                                   .kernels = {"affine<float, 7>", "affine<double, -4>"},
                                   .headers = {{"the header of the first number.h",
                                                "template <class T> __device__ T one() { return T(1); }"},
                                               {"two.h", "template <class T> __device__ T two() { return T(2); }"}},
                                   .definitions = {{"FACTOR", "3"}, {"A_LONG_NAME_THAT_NOBODY_EVER_USES", "1"}},
                                   .standard = 17,
                                   .fuse_multiply_add = false,
                                   .optimisation = 1,
                                   .options = {"-Wall", "-fno-strict-aliasing"}})
                    .kernel("affine<float, 7>"),
      .grid = kernel::blocks_for(n, 128),
      .block = 128,
      .arguments = {inout(f), n}});
  wrong += co_await gpu.download(f) != std::vector<float>(n, 9.0f);

  const jit::program both = jit::compile(
      gpu, {.source = source,
            .kernels = {"affine<double, -4>", "affine<float, 7>"},
            .headers = {{"the header of the first number.h", "template <class T> __device__ T one() { return T(1); }"},
                        {"two.h", "template <class T> __device__ T two() { return T(2); }"}},
            .definitions = {{"FACTOR", "10"}}});
  co_await gpu.ask(jit::launch{.kernel = both.kernel("affine<double,-4>"),
                               .grid = kernel::blocks_for(n, 128),
                               .block = 128,
                               .arguments = {inout(d), n}});
  wrong += co_await gpu.download(d) != std::vector<double>(n, 5.0);
  wrong += (co_await both.summary()).kernels != 2;
  const kernel::attributes about = co_await both.attributes("affine<float, 7>");
  wrong += about.parameters.size() != 2 || about.execution.empty() || about.parameters[0].type != "float*";

  // The log of a program that compiles and of one that does not.
  const std::string said =
      co_await jit::compile(gpu, {.source = warns, .name = "warns.cu", .cache = jit::cache_use::none}).log();
  wrong += said.find("the compiler says this") == std::string::npos || said.find("warns.cu") == std::string::npos;
  const result<void> undefined =
      co_await as_result(jit::compile(gpu, {.source = source,
                                            .kernels = {"affine<float, 7>"},
                                            .headers = {{"the header of the first number.h", ""}, {"two.h", ""}}})
                             .ready());
  wrong += undefined || undefined.error().text().find("FACTOR is not defined") == std::string::npos;

  // For fields that this engine does not support, the text names the field.
  const result<void> parts = co_await as_result(
      jit::compile(gpu, {.source = warns,
                         .units = {{.name = "a unit with quite a long name.cu", .source = "__device__ int f();"},
                                   {.name = "another unit with quite a long name.cu", .source = "__device__ int g();"}},
                         .link_time_optimisation = true})
          .ready());
  wrong += parts || parts.error().reaction() != reaction::unsupported ||
           parts.error().text().find("units") == std::string::npos;
  const result<void> registers = co_await as_result(jit::compile(gpu, {.source = warns, .max_registers = 32}).ready());
  wrong += registers || registers.error().reaction() != reaction::unsupported;

  // A graph with options in place.
  graph::recorder rec(gpu, {.name = "a graph with a name that is long"});
  rec.add(jit::launch{.kernel = both.kernel("affine<double, -4>"),
                      .grid = kernel::blocks_for(n, 128),
                      .block = 128,
                      .arguments = {inout(d), n}});
  co_await gpu.ask(graph::launch{.graph = rec.finish()});
  wrong += co_await gpu.download(d) != std::vector<double>(n, 45.0);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device({.name = "a device with a name that is long"})));
  if (!wrong) return std::fprintf(stderr, "recipes: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
