// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the actor's promises on a real device. Any test library works; this test needs none.
#include <csignal>
#include <cstdio>
#include <random>
#include <troupe/troupe.hpp>

#include "dsp/requests.hpp"

using namespace troupe;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s  %s\n", holds ? "ok  " : "FAIL", what);
  failures += !holds;
}

// The definition, in its simplest form.
std::vector<double> smoothed(const std::vector<double>& x, std::int64_t window) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < std::ssize(x); ++i) {
    double sum = 0, count = 0;
    for (std::int64_t j = i - window / 2; j <= i + window / 2; ++j)
      if (j >= 0 && j < std::ssize(x)) sum += x[static_cast<std::size_t>(j)], ++count;
    out.push_back(sum / count);
  }
  return out;
}

bool agrees_with_the_definition(const device& gpu) {
  std::minstd_rand random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> x(1 + random() % 200);
    for (double& v : x) v = static_cast<double>(random() % 1000) - 500;
    const std::int64_t window = 1 + 2 * static_cast<std::int64_t>(random() % 30);
    auto in = gpu.alloc<double>(x.size()), out = gpu.alloc<double>(x.size());
    gpu.upload(in, x);
    gpu.tell(dsp::smooth<double>{.input = in, .output = out, .samples = x.size(), .window = window});
    const auto got = gpu.download(out).get().value();
    const auto want = smoothed(x, window);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(std::abs(got[i] - want[i]) < 1e-9)) return false;
  }
  return true;
}

}  // namespace

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device({.engine_folders = {ENGINES}});
  expect(agrees_with_the_definition(gpu), "smooth agrees with its definition on random signals");

  auto x = gpu.alloc<float>(100), y = gpu.alloc<float>(100);
  gpu.fill(x, 3.f);
  const auto wrong = gpu.ask(dsp::smooth<float>{.input = x, .output = y, .samples = 100, .window = 4}).get();
  expect(!wrong && wrong.error().text() == "dsp.smooth<f32>: window has no middle; expected an odd number of samples",
         "an even window is refused, and the text says what is expected");
  expect(!y.readable() &&
             gpu.ask(dsp::peak<float>{.input = y, .samples = 100}).get().error().request().name == "dsp.smooth<f32>",
         "readers of its output get this error");

  auto gain = gpu.alloc<float>(1);
  gpu.fill(gain, 2.f);
  gpu.tell(dsp::amplify<float>{.signals = {x.slice(0, 10), x.slice(50, 10)}, .gain = gain});
  const auto amplified = gpu.download(x).get().value();
  expect(amplified[5] == 6 && amplified[30] == 3 && amplified[55] == 6, "many signals, and a gain in memory");

  auto answer = gpu.ask(dsp::peak<float>{.input = x, .samples = 100});
  ::kill(gpu.statistics().worker_pid.value(), SIGKILL);
  const auto last = gpu.ask(dsp::peak<float>{.input = x, .samples = 100}).get();
  expect(!last && last.error().reaction() != reaction::caller_bug,
         "the worker was killed, and this program received an error");
  (void)answer.get();  // completed too, with or without an error
  return failures == 0 ? 0 : 1;
}
