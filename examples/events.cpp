// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Measures how long a product takes on the device, by the device's own clock.
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/events/events.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

result<std::chrono::nanoseconds> time_of_product(const device& gpu, extent n) {
  auto a = gpu.alloc<float>(n * n), b = gpu.alloc<float>(n * n), c = gpu.alloc<float>(n * n);
  gpu.fill(a, 1.0f);
  gpu.fill(b, 2.0f);
  const blas::gemm<float> product{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n};
  gpu.tell(product);  // the first one loads the library

  const events::event begin(gpu), end(gpu);
  begin.record(c);  // after the first product, which wrote c
  gpu.tell(product);
  end.record(c);  // after the second
  return elapsed(begin, end).get();
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  const auto took = time_of_product(gpu, 256);
  if (!took) return std::fprintf(stderr, "%s\n", took.error().to_string().c_str()), 1;
  std::printf("%g us\n", static_cast<double>(took->count()) / 1000);
}
