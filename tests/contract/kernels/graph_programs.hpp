// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/graph/graph.hpp>

#include "jit_source.hpp"

/// Kernels for the tests of graphs.
namespace troupe::whole {

/// scale(a, x, n): x = a * x.   add(x, y, n): y = y + x.   down(flag, x): x[0] += 1, flag -= 1.
inline jit::recipe graph_recipe() {
  return {.source =
              "__global__ void scale(float a, float* x, int n) {\n"
              "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  if (i < n) x[i] *= a;\n"
              "}\n"
              "__global__ void add(const float* x, float* y, int n) {\n"
              "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "  if (i < n) y[i] += x[i];\n"
              "}\n"
              "__global__ void down(unsigned* flag, float* x) { x[0] += 1; *flag -= 1; }\n",
          .name = "graphs.cu"};
}

/// Launches of the kernels on 64 elements.
struct graph_kernels {
  explicit graph_kernels(const device& gpu) : program(jit::compile(gpu, graph_recipe())) {}
  jit::launch scale(float a, const buffer<float>& x) const {
    return {.kernel = program.kernel("scale"), .grid = 2, .block = 32, .arguments = {a, inout(x), 64}};
  }
  jit::launch add(const buffer<float>& x, const buffer<float>& y) const {
    return {.kernel = program.kernel("add"), .grid = 2, .block = 32, .arguments = {x, inout(y), 64}};
  }
  jit::launch down(const buffer<std::uint32_t>& flag, const buffer<float>& x) const {
    return {.kernel = program.kernel("down"), .grid = 1, .block = 1, .arguments = {inout(flag), inout(x)}};
  }
  jit::program program;
};

inline std::vector<float> times(std::vector<float> x, float a) {
  for (float& v : x) v *= a;
  return x;
}

}  // namespace troupe::whole
