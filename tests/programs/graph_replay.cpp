// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A graph of a product, a vector operation and a kernel, recorded once and launched 10,000 times.
#include <cstdint>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/graph/graph.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr const char* source = R"(
__global__ void next(unsigned* state, unsigned* when_even) {
  *state = *state * 1664525u + 1013904223u;
  *when_even = *state % 2 == 0;
}
)";

constexpr int launches = 10000, n = 4;

task<result<int>> replay(device gpu) {
  const jit::program program = jit::compile(gpu, {.source = source, .name = "next.cu"});
  auto state = gpu.alloc<std::uint32_t>(1), even = gpu.alloc<std::uint32_t>(1);
  auto swap = gpu.alloc<double>(n * n), from = gpu.alloc<double>(n * n), to = gpu.alloc<double>(n * n);
  auto one = gpu.alloc<double>(n), steps = gpu.alloc<double>(n), evens = gpu.alloc<double>(n);
  std::vector<double> rotate(n * n), start(n * n);
  for (int i = 0; i < n; ++i) rotate[static_cast<std::size_t>((i + 1) % n + i * n)] = 1;
  for (int i = 0; i < n * n; ++i) start[static_cast<std::size_t>(i)] = i;

  graph::recorder rec(gpu, {.name = "replayed"});
  rec.add(jit::launch{.kernel = program.kernel("next"), .grid = 1, .block = 1, .arguments = {inout(state), out(even)}},
          "next");
  rec.add(blas::gemm<double>{.a = swap, .b = from, .c = to, .m = n, .n = n, .k = n}, "rotated rows");
  rec.copy(from, to);
  rec.add(blas::axpy<double>{.x = one, .y = steps, .n = n}, "steps += 1");
  rec.if_(even,
          [&](graph::recorder& then) { then.add(blas::axpy<double>{.x = one, .y = evens, .n = n}, "evens += 1"); });
  const graph::graph steps_of_all = rec.finish();

  gpu.fill(state, 1);
  gpu.upload(swap, rotate);
  gpu.upload(from, start);
  gpu.fill(one, 1);
  gpu.fill(steps, 0);
  gpu.fill(evens, 0);
  for (int i = 0; i < launches; ++i) {
    if (i % 1000 == 999) {
      co_await gpu.ask(graph::launch{.graph = steps_of_all});
    } else {
      gpu.tell(graph::launch{.graph = steps_of_all});
    }
  }

  std::uint32_t expected = 1;
  int expected_evens = 0;
  for (int i = 0; i < launches; ++i) {
    expected = expected * 1664525u + 1013904223u;
    expected_evens += expected % 2 == 0;
  }
  const std::vector<double> turned = co_await gpu.download(from);
  int wrong = (co_await gpu.download(state)).front() != expected;
  wrong += co_await gpu.download(steps) != std::vector<double>(n, launches);
  wrong += co_await gpu.download(evens) != std::vector<double>(n, expected_evens);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      wrong +=
          turned[static_cast<std::size_t>((i + launches) % n + j * n)] != start[static_cast<std::size_t>(i + j * n)];
  std::printf("%d launches, %d even numbers, %d wrong\n", launches, expected_evens, wrong);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(replay(rt.open_device({.when_full = when_full::wait})));
  if (!wrong) return std::fprintf(stderr, "graph_replay: %s\n", wrong.error().to_string().c_str()), 1;
  return *wrong == 0 ? 0 : 1;
}
