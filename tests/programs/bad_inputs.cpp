// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A kernel that trusts an index from its data. Two clients repeatedly send indices that kill the worker; the good ones
// are served all the time.
#include <atomic>
#include <cstdio>
#include <thread>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr const char* source = R"(
__global__ void scatter(const long long* where, const float* values, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[where[i]] = values[i];
}
)";

constexpr int n = 256;

/// One call of the service, which uses only its own buffers.
result<std::vector<float>> serve(const device& gpu, const jit::program& program, const std::vector<long long>& where,
                                 const std::vector<float>& values) {
  auto index = gpu.alloc<long long>(n);
  auto x = gpu.alloc<float>(n), y = gpu.alloc<float>(n, {.zeroed = true});
  gpu.upload(index, where);
  gpu.upload(x, values);
  gpu.tell(jit::launch{.kernel = program.kernel("scatter"),
                       .grid = kernel::blocks_for(n, 64),
                       .block = 64,
                       .arguments = {index, x, inout(y), n}});
  return gpu.download(y).get();
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();  // tolerates three faults
  const jit::program program = jit::compile(gpu, {.source = source, .name = "scatter.cu"});
  if (const auto up = program.ready().get(); !up)
    return std::fprintf(stderr, "%s\n", up.error().to_string().c_str()), 1;

  std::atomic<int> served = 0, wrong = 0, again = 0, crashes = 0, refused = 0, odd = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int id = 0; id < 3; ++id)
    threads.emplace_back([&, id] {
      std::vector<long long> where(n);
      std::vector<float> values(n), expected(n);
      for (int round = 0; !over; ++round) {
        for (int i = 0; i < n; ++i) {
          where[i] = (i * 5 + id + round) % n;
          values[i] = static_cast<float>(i + round % 100);
          expected[where[i]] = values[i];
        }
        auto got = serve(gpu, program, where, values);
        while (!got && (got.error().reaction() == reaction::context_lost ||  // another client's fault
                        got.error().reaction() == reaction::retry_later)) {
          ++again;
          got = serve(gpu, program, where, values);
        }
        if (!got) std::fprintf(stderr, "a good client: %s\n", got.error().to_string().c_str());
        ++(got && *got == expected ? served : wrong);
      }
    });

  std::vector<std::thread> hostile;
  for (int id = 0; id < 2; ++id)
    hostile.emplace_back([&, id] {
      std::vector<long long> where(n, 0);
      where[100] = id == 0 ? 1ll << 50 : -(1ll << 50);
      const std::vector<float> values(n, 1.0f);
      for (int tries = 0; tries < 40; ++tries) {
        auto got = serve(gpu, program, where, values);
        while (!got && got.error().reaction() == reaction::retry_later) got = serve(gpu, program, where, values);
        if (got) {
          ++odd;
        } else if (got.error().reaction() == reaction::context_lost) {
          ++crashes;
        } else {
          ++(got.error().reaction() == reaction::caller_bug ? refused : odd);
        }
      }
    });
  for (auto& t : hostile) t.join();
  const int until_then = served;
  while (served < until_then + 50 && wrong == 0) std::this_thread::yield();
  over = true;
  for (auto& t : threads) t.join();

  const device_statistics now = gpu.statistics();
  std::printf("good clients: %d served, %d done again, %d wrong; bad ones: %d lost, %d refused; %d faults\n",
              served.load(), again.load(), wrong.load(), crashes.load(), refused.load(), static_cast<int>(now.faults));
  const bool right = wrong == 0 && odd == 0 && served >= 50 && refused > 60 && now.faults >= 2 && now.faults <= 3 &&
                     now.quarantined == 1 && gpu.ready();
  return right ? 0 : 1;
}
