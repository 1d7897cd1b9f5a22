// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Futures: `get` blocks until the answer is there. And what an error looks like.
#include <chrono>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device();

  const std::vector<double> ones(1000, 1.0);
  auto x = gpu.alloc<double>(1000), y = gpu.alloc<double>(1000);
  gpu.upload(x, ones);
  gpu.fill(y, 2.0);
  gpu.tell(blas::axpy<double>{.x = x, .y = y, .n = 1000, .alpha = 3.0});  // y = 3 * x + y

  pending<double> sum = gpu.ask(blas::dot<double>{.x = x, .y = y, .n = 1000});
  // ... other work ...
  result<double> answer = sum.get();
  if (!answer || *answer != 5000.0) {
    std::fprintf(stderr, "future: the sum is %s\n", answer ? "wrong" : answer.error().to_string().c_str());
    return 1;
  }

  pending<std::vector<double>> all = gpu.download(y);
  std::optional<result<std::vector<double>>> in_time = all.get_for(std::chrono::seconds(30));
  if (!in_time) all.cancel();
  if (!in_time || !*in_time || (**in_time)[999] != 5.0) {
    std::fprintf(stderr, "future: the download is late or wrong\n");
    return 1;
  }

  result<double> wrong = gpu.ask(blas::dot<double>{.x = x, .y = y, .n = 2000}).get();
  if (!wrong && wrong.error().reaction() == reaction::caller_bug) {
    std::printf("refused, as it should be: %s\n", wrong.error().text().c_str());
  }
  if (wrong || wrong.error().reaction() != reaction::caller_bug) {
    std::fprintf(stderr, "future: a request beyond its buffers was not refused\n");
    return 1;
  }

  auto z = gpu.alloc<double>(1000);
  gpu.tell(blas::axpy<double>{.x = x.slice(500, 1000), .y = z, .n = 1000});  // a slice beyond its buffer: refused
  gpu.tell(blas::scal<double>{.x = z, .n = 1000, .alpha = 2.0});             // reads z, so it is refused as well
  result<std::vector<double>> lost = gpu.download(z).get();  // the error, and the requests it came through
  if (lost) {
    std::fprintf(stderr, "future: an error did not travel along the data\n");
    return 1;
  }
  std::printf("future: the sum is right; the error arrived at the end: %s\n", lost.error().to_string().c_str());
}
