// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A matrix product as a coroutine: queue the whole computation, wait once, at the end.
#include <cmath>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

task<result<std::vector<float>>> product(device gpu, std::vector<float> x, std::vector<float> y, extent n) {
  auto a = gpu.alloc<float>(n * n), b = gpu.alloc<float>(n * n), c = gpu.alloc<float>(n * n);
  gpu.upload(a, x);  // in order: no need to wait
  gpu.upload(b, y);
  gpu.tell(blas::gemm<float>{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n});
  co_return co_await gpu.download(c);  // an error anywhere above arrives here
}

int main() {
  const int n = 64;
  std::vector<float> x(n * n), y(n * n);
  for (int i = 0; i < n * n; ++i) {
    x[i] = static_cast<float>(i % 7);
    y[i] = static_cast<float>(i % 5);
  }

  troupe::runtime rt;
  device gpu = rt.open_device();
  result<std::vector<float>> z = sync_wait(product(gpu, x, y, n));
  if (!z) {
    std::fprintf(stderr, "%s\n", z.error().to_string().c_str());
    return 1;
  }

  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < n; ++row) {
      float expected = 0;
      for (int k = 0; k < n; ++k) expected += x[row + k * n] * y[k + column * n];
      const float got = (*z)[row + column * n];
      if (std::abs(got - expected) > 0.01f) {
        std::fprintf(stderr, "coroutine: z(%d, %d) is %g, expected %g\n", row, column, got, expected);
        return 1;
      }
    }
  }
  std::puts("coroutine: the product is right");
}
