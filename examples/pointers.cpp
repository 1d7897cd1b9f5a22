// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A kernel that takes addresses of buffers inside a struct, and a pointer that may be null.
#include <cstdio>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

struct line {
  const float* x;
  float* y;
  int n;
};

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  const auto program = jit::compile(gpu, {.source = R"(
struct line { const float* x; float* y; int n; };
__global__ void scale(line l, const float* weights) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < l.n) l.y[i] = l.x[i] * (weights ? weights[i] : 2.0f);
})"});
  const auto x = gpu.upload(std::vector<float>(100, 21.0f)), y = gpu.alloc<float>(100);
  const line l{kernel::device_pointer(in(x)), kernel::device_pointer(inout(y)), 100};
  gpu.tell(jit::launch{.kernel = program.kernel("scale"),
                       .grid = 1,
                       .block = 128,
                       .arguments = {kernel::with_buffers(l, in(x), inout(y)), nullptr}});
  const auto values = gpu.download(y).get();
  if (!values) return std::fprintf(stderr, "%s\n", values.error().to_string().c_str()), 1;
  std::printf("%g\n", static_cast<double>(values->back()));
  return values->back() == 42 ? 0 : 1;
}
