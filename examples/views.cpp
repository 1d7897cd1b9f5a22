// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Two matrices, their product, a kernel of one's own, and one check at the end.
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

int main() {
  constexpr int n = 256;
  const std::vector<float> ones(n * n, 1.0f);
  runtime rt;
  const device gpu = rt.open_device();  // a GPU if there is one, otherwise the processor
  const matrix a(gpu.upload(ones), n, n), b(gpu.upload(ones), n, n), c(gpu.alloc<float>(n * n), n, n);
  blas::multiply(gpu, c, a, b.transposed());
  const auto program = jit::compile(gpu, {.source = R"(__global__ void clamp(float most, float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = min(x[i], most); })"});
  const auto clamp = program.kernel<void(float, inout<float>, int)>("clamp");
  gpu.tell(clamp(kernel::blocks_for(n * n, 256), 256)(200.0f, c.memory(), n * n));
  const auto values = gpu.download(c.memory()).get();  // an error anywhere above arrives here
  if (!values) return std::fprintf(stderr, "%s\n", values.error().to_string().c_str()), 1;
  std::printf("%s: %g\n", gpu.name().c_str(), static_cast<double>(values->front()));
  return values->front() == 200 ? 0 : 1;
}
