// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A noisy signal: amplify it, smooth it, find its peak.
#include <cmath>
#include <cstdio>
#include <troupe/troupe.hpp>

#include "dsp/requests.hpp"

using namespace troupe;

int main() {
  std::vector<float> samples(1000);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = std::sin(static_cast<float>(i) / 200) + (i % 2 == 0 ? 0.3f : -0.3f);

  troupe::runtime rt;
  device gpu = rt.open_device({.engine_folders = {ENGINES}});
  auto noisy = gpu.alloc<float>(samples.size()), clean = gpu.alloc<float>(samples.size());
  gpu.upload(noisy, samples);
  gpu.tell(dsp::amplify<float>{.signals = {noisy}, .gain = 2});
  gpu.tell(dsp::smooth<float>{.input = noisy, .output = clean, .samples = samples.size(), .window = 51});
  auto top = gpu.ask(dsp::peak<float>{.input = clean, .samples = samples.size()}).get();
  if (!top) return std::fprintf(stderr, "%s\n", top.error().to_string().c_str()), 1;
  std::printf("the peak is %.2f, at sample %lld\n", top->value, static_cast<long long>(top->index));
  return std::abs(top->value - 2) < 0.05 && std::abs(top->index - 314) < 20 ? 0 : 1;
}
