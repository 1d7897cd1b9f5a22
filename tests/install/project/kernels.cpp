// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel, a product and a transform of views.
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/fft/fft.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

int main() {
  troupe::runtime rt;
  const device gpu = rt.open_device();
  const auto ones = gpu.upload(std::vector<float>(16, 1.0f));
  const matrix a(ones, 4, 4), c(gpu.alloc<float>(16), 4, 4);
  blas::multiply(gpu, c, a, a.transposed(), {.alpha = 2}, {.retries = 1});  // 8 everywhere
  const auto halve =
      jit::compile(gpu,
                   {.source = "__global__ void halve(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] /= 2; }"})
          .kernel<void(inout<float>, int)>("halve");
  gpu.tell(halve(1, 32)(c.memory(), 16));
  const tensor<complex64> bins(gpu.alloc<complex64>(9), {9});
  fft::transform(gpu, bins, tensor(c.memory(), {16}));
  const auto spectrum = gpu.download(bins.memory()).get();
  if (!spectrum || (*spectrum)[0] != complex64(64, 0)) {
    std::fprintf(stderr, "kernels: the spectrum is %s\n", spectrum ? "wrong" : spectrum.error().to_string().c_str());
    return 1;
  }
  std::puts("kernels: ok");
}
