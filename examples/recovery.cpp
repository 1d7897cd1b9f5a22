// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The worker of a device is killed, and the program continues. For docs/when-things-fail.md.
#include <signal.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/device/keep_content.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using namespace std::chrono_literals;

constexpr int n = 1000;

int failed(const char* what, const error& why) {
  return std::fprintf(stderr, "recovery: %s: %s\n", what, why.to_string().c_str()), 1;
}

// One step of a service: sends its data, computes, reads the result. After a fault it repeats the step.
result<std::vector<float>> step(const device& gpu, const buffer<float>& x, const std::vector<float>& data) {
  for (int tries = 0;; ++tries) {
    gpu.upload(x, data);
    gpu.tell(blas::scal<float>{.x = x, .n = n, .alpha = 2});
    result<std::vector<float>> y = gpu.download(x).get();  // an error anywhere above arrives here
    if (y || y.error().reaction() != reaction::context_lost || tries == 3) return y;
  }
}

// Receives data in memory that the worker sees, too. A fault of the worker makes it stale.
result<void> receive(const device& gpu, const buffer<float>& x, const host_buffer<float>& host,
                     const std::vector<float>& frame) {
  std::ranges::copy(frame, host.begin());  // or read() from a socket, straight into it
  if (auto valid = written(gpu, host); !valid) return valid;
  return gpu.upload(x, host).get();
}

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device({.standbys = 1,          // a second worker is ready to take over
                               .restarts = 3,          // faults tolerated …
                               .restart_window = 60s,  // … within this time; after that the device stops
                               .run_timeout = 10s});   // the worker is killed if a request runs longer
  if (auto up = gpu.started().get(); !up) return failed("start", up.error());
  device_watch events = gpu.watch();

  const std::vector<float> data(n, 1.0f);
  auto x = gpu.alloc<float>(n);
  auto host = gpu.alloc_host<float>(n);
  if (auto y = step(gpu, x, data); !y) return failed("first step", y.error());

  ::kill(gpu.statistics().worker_pid.value(), SIGKILL);  // as a broken kernel would

  auto y = step(gpu, x, data);
  if (!y) return failed("second step", y.error());
  if ((*y)[n - 1] != 2.0f) return std::fprintf(stderr, "recovery: wrong values\n"), 1;

  if (auto sent = receive(gpu, x, host, data); !sent) return failed("receive", sent.error());

  for (bool serves = false; !serves;) {
    result<device_event> e = events.next().get();
    if (!e) return failed("watch", e.error());
    std::printf("%s\n", e->text().c_str());
    serves = e->kind == event_kind::serving;
  }
  std::printf("%s", gpu.last_fault()->text().c_str());

  // A request with a time limit, which may run again if the worker dies during it.
  auto copy = gpu.alloc<float>(n);
  pending<void> again = gpu.copy(copy, x, {.run_timeout = 100ms, .retries = 2});
  if (auto ok = again.get(); !ok) return failed("copy", ok.error());

  // One with a label, which errors and the black box show.
  gpu.tell(blas::scal<float>{.x = x, .n = n, .alpha = 2}, {.label = "layer 7"});
  if (auto ok = gpu.download(x).get(); !ok) return failed("layer 7", ok.error());
}
