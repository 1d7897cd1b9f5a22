// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Typical first mistakes with kernels; the error texts name the cause.
#include <cstdio>
#include <string>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

constexpr const char* good = R"(
__global__ void scale(float* x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
)";
constexpr const char* divergent = R"(
__global__ void uneven(float* x) {
  if (threadIdx.x < 7) __syncthreads();
  x[threadIdx.x] = 1;
  if (threadIdx.x >= 7) return;
  __syncthreads();
}
)";
constexpr const char* unfinished = R"(
__global__ void scale(float* x, int n) {
  if (threadIdx.x < n) {
    x[threadIdx.x] = 0;
}
)";

int wrong = 0;

template <class T>
void names(const char* what, const result<T>& answer, reaction expected, const list<std::string>& words) {
  if (answer) {
    ++wrong;
    return (void)std::fprintf(stderr, "%s: no error\n", what);
  }
  const std::string text = answer.error().to_string();
  std::printf("%s:\n  %s\n", what, text.c_str());
  bool right = answer.error().reaction() == expected;
  for (const std::string& word : words) right &= text.find(word) != text.npos;
  if (!right) std::fprintf(stderr, "%s: the text does not name the cause\n", what);
  wrong += !right;
}

task<void> all(device gpu) {
  const int n = 64;
  auto x = gpu.alloc<float>(n, {.zeroed = true});
  const jit::program program = jit::compile(gpu, {.source = good, .name = "scale.cu"});

  names("an int for a float",
        co_await gpu.ask(
            jit::launch{.kernel = program.kernel("scale"), .grid = 1, .block = n, .arguments = {inout(x), 2, n}}),
        reaction::caller_bug, {"argument 1", "float", "scale"});
  gpu.fill(x, 1.0f);
  names("a buffer that is only read",
        co_await gpu.ask(
            jit::launch{.kernel = program.kernel("scale"), .grid = 1, .block = n, .arguments = {x, 2.0f, n}}),
        reaction::caller_bug, {"argument 0", "inout"});
  names("a missing argument",
        co_await gpu.ask(
            jit::launch{.kernel = program.kernel("scale"), .grid = 1, .block = n, .arguments = {inout(x), 2.0f}}),
        reaction::caller_bug, {"2", "3", "scale"});
  gpu.fill(x, 1.0f);
  names("a buffer of another type",
        co_await gpu.ask(jit::launch{.kernel = program.kernel("scale"),
                                     .grid = 1,
                                     .block = n,
                                     .arguments = {inout(gpu.alloc<double>(n, {.zeroed = true})), 2.0f, n}}),
        reaction::caller_bug, {"argument 0", "float"});
  names("a misspelled name",
        co_await gpu.ask(
            jit::launch{.kernel = program.kernel("scael"), .grid = 1, .block = n, .arguments = {inout(x), 2.0f, n}}),
        reaction::caller_bug, {"scael"});
  gpu.fill(x, 1.0f);
  names("a block that is too large",
        co_await gpu.ask(
            jit::launch{.kernel = program.kernel("scale"), .grid = 1, .block = 2048, .arguments = {inout(x), 2.0f, n}}),
        reaction::caller_bug, {"block", "2048", "1024"});
  names("a misspelled name in the recipe",
        co_await jit::compile(gpu, {.source = good, .name = "scale.cu", .kernels = {"scael"}}).ready(),
        reaction::caller_bug, {"scael"});
  names("a missing brace", co_await jit::compile(gpu, {.source = unfinished, .name = "unfinished.cu"}).ready(),
        reaction::caller_bug, {"unfinished.cu"});

  gpu.fill(x, 1.0f);
  names("a barrier that not all threads reach",
        co_await gpu.ask(
            jit::launch{.kernel = jit::compile(gpu, {.source = divergent, .name = "divergent.cu"}).kernel("uneven"),
                        .grid = 1,
                        .block = n,
                        .arguments = {inout(x)}}),
        reaction::caller_bug, {"divergent.cu", "uneven"});
  names("and its output", co_await gpu.download(x), reaction::caller_bug, {"jit.launch"});

  // None of these mistakes has harmed the device.
  gpu.fill(x, 1.0f);
  gpu.tell(jit::launch{.kernel = program.kernel("scale"), .grid = 1, .block = n, .arguments = {inout(x), 2.0f, n}});
  const auto values = co_await gpu.download(x);
  wrong += !values || *values != std::vector<float>(n, 2.0f);
  wrong += gpu.statistics().faults != 0;
}

int main() {
  runtime rt;
  if (!sync_wait(all(rt.open_device()))) return 1;
  return wrong == 0 ? 0 : 1;
}
