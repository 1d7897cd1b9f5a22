// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A service whose runtime, device and buffers are static, and whose children end by exit(), as children made by
// fork() in libraries do. One child serves by itself, with a device of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <troupe/blas/blas.hpp>
#include <troupe/device/managed.hpp>
#include <troupe/faults/faults.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr int n = 1000;

static runtime rt;
static device gpu = rt.open_device();
static buffer<float> x = gpu.alloc<float>(n);
static buffer<float> lost_with_worker = alloc_managed<float>(gpu, n);
static pending<void> last;

static bool doubles(const device& on, float value) {
  auto y = on.upload(std::vector<float>(n, value));
  on.tell(blas::scal<float>{.x = y, .n = n, .alpha = 2});
  const auto got = on.download(y).get();
  return got && *got == std::vector<float>(n, 2 * value);
}

/// Waits for a child; false if it did not return 0 in time.
static bool ended_well(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main() {
  int wrong = 0;
  for (int i = 0; i < 10; ++i) {
    last = gpu.fill(x, static_cast<float>(i));
    auto slow = gpu.ask(faults::hang{.milliseconds = 100, .number = static_cast<std::uint64_t>(i)});
    auto fails =
        advise(gpu, lost_with_worker, managed_advice{}, managed_place{});  // the host engine does not support it
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      const auto refused = gpu.fill(x, 1.0f).get();
      exit(refused || refused.error().reaction() != reaction::stopped ? 1 : 0);
    }
    wrong += !doubles(gpu, static_cast<float>(i));
    wrong += !ended_well(child);
    wrong += !last.get() || !slow.get() || fails.get();
    const auto seen = gpu.download(x).get();
    wrong += !seen || *seen != std::vector<float>(n, static_cast<float>(i));
  }
#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer allows no threads in a child
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    runtime own;
    exit(doubles(own.open_device(), 3) ? 0 : 1);
  }
  wrong += !ended_well(child);
#endif
  wrong += !doubles(gpu, 4);
  wrong += gpu.statistics().faults != 0;
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
