// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "scenario.hpp"

#include <signal.h>

#include <chrono>
#include <troupe/device/sealing.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

#include "failing.hpp"

namespace failing {
namespace {

using namespace troupe;
using namespace std::chrono_literals;

constexpr auto limit = std::chrono::milliseconds(static_cast<int>(longest_answer_ms));

double ms_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

// Checks an error that is returned because a system call fails once: it must not blame the program.
std::string check_error(const char* what, const error& e) {
  if (e.text().empty()) return std::string(what) + ": an error without a text";
  if (e.reaction() == reaction::caller_bug && e.text().find("stale") == e.text().npos)
    return std::string(what) + ": the caller is blamed: " + e.to_string();
  return {};
}

struct user {
  device gpu;
  jit::program program;

  // Runs requests. Sets `works` if all results were correct.
  std::string compute(int seed, bool& works) {
    works = false;
    std::vector<float> data(30'000);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(seed) + static_cast<float>(i % 7);
    const auto x = gpu.upload(data);
    const auto f = program.kernel<void(inout<float>, int)>("twice");
    gpu.tell(f(kernel::blocks_for(30'000, 256), 256)(x, 30'000));
    auto answer = gpu.download(x);
    const auto got = answer.get_for(limit);
    if (!got) return "a download has no answer";
    if (!*got) return check_error("a chain", got->error());
    for (std::size_t i = 0; i < data.size(); ++i)
      if ((**got)[i] != 2 * data[i]) return "a download succeeds with wrong data";
    works = true;
    return {};
  }
};

device_options options() {
  device_options o;
  o.engine = "host";
  o.mailbox_capacity = 64;
  o.memory_limit = 64 << 20;
  o.host_memory_limit = 64 << 20;
  o.run_timeout = 2s;
  o.heartbeat_timeout = 1s;
  o.start_timeout = 3s;
  o.close_timeout = 1s;
  return o;
}

std::string use(const device& gpu, bool& started) {
  auto ready = gpu.started();
  const auto begun = ready.get_for(limit);
  if (!begun) return "started() has no answer";
  started = begun->has_value();
  if (!started) return check_error("the start", begun->error());
  user u{gpu, jit::compile(gpu, {.source = "__global__ void twice(float* x, int n) {"
                                           " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }"})};
  const auto sealed = gpu.alloc<float>(5000, {.sealable = true});
  gpu.fill(sealed, 2.0f);
  auto seals = seal(gpu, sealed);
  if (!seals.get_for(limit)) return "a seal has no answer";
  bool works = false;
  for (int i = 0; i < 6; ++i) {
    if (std::string why = u.compute(i, works); !why.empty()) return why;
    if (i != 2) continue;
    const auto pid = gpu.statistics().worker_pid;
    if (pid && *pid > 1) ::kill(*pid, SIGKILL);
    (void)gpu.statistics();
  }
  auto kept = gpu.download(sealed);
  const auto got = kept.get_for(limit);
  if (!got) return "a download of sealed data has no answer";
  if (*got && (*got)->back() != 2) return "sealed data is wrong";
  return {};
}

// Called when calls no longer fail. A device that had started must serve, and so must a new one.
std::string expect_service(runtime& rt, const device& gpu, bool started, double probe_ms) {
  const auto begun = std::chrono::steady_clock::now();
  std::string last;
  const auto serves = [&](const device& d) {
    user u{d, jit::compile(d, {.source = "__global__ void twice(float* x, int n) {"
                                         " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }"})};
    for (bool works = false; !works && ms_since(begun) < probe_ms + longest_answer_ms;) {
      last = u.compute(9, works);
      if (works) return true;
      if (d.state() == device_state::stopped) return last += " the device has stopped", false;
    }
    return false;
  };
  if (started && !serves(gpu)) return "it does not serve again: " + last;
  if (started && ms_since(begun) > probe_ms)
    return "it serves again only after " + std::to_string(ms_since(begun)) + " ms";
  const device another = rt.open_device(options());
  if (!serves(another)) return "a device that is opened later does not serve: " + last;
  return {};
}

}  // namespace

std::string run_scenario(double probe_ms, double& armed_ms) {
  const auto begun = std::chrono::steady_clock::now();
  std::string why;
  {
    runtime rt;
    bool started = false;
    const device gpu = rt.open_device(options());
    why = use(gpu, started);
    armed_ms = ms_since(begun);
    if (probe_ms > 0) disarm();
    if (why.empty() && probe_ms > 0) why = expect_service(rt, gpu, started, probe_ms);
  }
  return why;
}

}  // namespace failing
