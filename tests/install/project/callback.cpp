// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Callbacks: `then` calls a function with the answer, on an executor of your choice.
#include <cstdio>
#include <latch>
#include <troupe/async/thread_pool.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device();
  std::latch done(1);
  bool right = false;

  thread_pool pool(1);
  auto a = gpu.alloc<float>(4), b = gpu.alloc<float>(4), c = gpu.alloc<float>(4);
  gpu.upload(a, std::vector<float>{1, 2, 3, 4});  // column-major: 1 3
  gpu.upload(b, std::vector<float>{0, 1, 1, 0});  //               2 4, times a swap
  gpu.tell(blas::gemm<float>{.a = a, .b = b, .c = c, .m = 2, .n = 2, .k = 2});
  pending<std::vector<float>> product = gpu.download(c);
  std::move(product).then(pool, [&](result<std::vector<float>> z) {
    right = z && *z == std::vector<float>{3, 4, 1, 2};
    done.count_down();
  });

  done.wait();
  std::puts(right ? "callback: the product is right" : "callback: the product is wrong");
  return right ? 0 : 1;
}
