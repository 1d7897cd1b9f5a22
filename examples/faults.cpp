// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// How a program tests that it survives faults of its accelerator.
#include <cstdio>
#include <numeric>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// The service under test. If a fault destroys a computation, the service repeats it.
result<std::vector<float>> copy_of(const device& gpu, const std::vector<float>& x) {
  while (true) {
    auto from = gpu.alloc<float>(x.size()), to = gpu.alloc<float>(x.size());
    gpu.upload(from, x);
    gpu.copy(to, from);
    auto answer = gpu.download(to).get();
    if (answer || answer.error().reaction() != reaction::context_lost) return answer;
  }
}

int failed(const char* what) { return std::fprintf(stderr, "faults: %s\n", what), 1; }

int one_fault(const device& gpu) {
  // A fault has a place in the computation: after the request that writes x, before the one that reads it.
  auto x = gpu.alloc<float>(100), y = gpu.alloc<float>(100);
  gpu.fill(x, 1.f);
  gpu.tell(faults::segmentation_fault{.through = x.as<std::byte>()});
  gpu.copy(y, x);
  auto answer = gpu.download(y).get();
  if (answer) return failed("a broken kernel was not noticed");
  std::printf("%s\n", answer.error().to_string().c_str());

  // From outside: the test kills the worker, and the next one serves.
  if (!gpu.sync().get() || faults::injector(gpu).kill_worker() == 0) return failed("there was no worker to kill");
  return gpu.ping(7).get() ? 0 : failed("no worker took over");
}

int many_faults(const device& gpu) {
  faults::storm storm(gpu, {.kinds = {faults::kind::kill_worker, faults::kind::abort, faults::kind::kill_standby},
                            .seed = 42,
                            .per_second = 20,
                            .most = 10});
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 0.f);
  int served = 0;
  while (storm.count() < 10) {
    const auto answer = copy_of(gpu, x);
    if (!answer) return failed(answer.error().to_string().c_str());
    if (*answer != x) return failed("a wrong answer");
    ++served;
  }
  for (const faults::injection& i : storm.record())
    if (i.recovered())
      std::printf("%s: served again after %.1f ms\n", to_string(i.kind).data(),
                  static_cast<double>(i.recovery_ns()) / 1e6);
  return served > 0 ? 0 : failed("nothing was served");
}

int main() {
  runtime rt;
  const device gpu = rt.open_device({.restarts = 1000});  // many, on purpose
  const int one = one_fault(gpu);
  return one != 0 ? one : many_faults(gpu);
}
