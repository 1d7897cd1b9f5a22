// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/element_difference.hpp>
#include <bench/gpu/memory_limit.hpp>
#include <bench/networks/local_graph.hpp>
#include <troupe/base/clock.hpp>

namespace troupe::bench {

pair_of_medians against_copies(int rounds, const dnn_sides& on, const dnn::computation& r, double bytes) {
  // Runs for a tenth of a second: a GPU may take a millisecond to switch to another process.
  const int times = static_cast<int>(std::clamp(0.1 * 3e12 / bytes, 20., 2000.));
  constexpr std::size_t copied = std::size_t{1} << 30;  // much more than the GPU's caches can hold
  const device& gpu = *on.gpu;
  gpu.ask(dnn::prepare{r}).get().value();
  gpu.ask(r).get().value();
  return interleaved(
      rounds,
      [&] {
        const std::int64_t start = now_ns();
        run_queued(gpu, r, times);
        return static_cast<double>(now_ns() - start) / 1e9 / times;
      },
      [&] { return bytes / on.raw->copy_rate(copied, 150); });
}

std::string difference_from_reference(const device& gpu, const dnn::graph& g) {
  std::vector<std::byte> encoded(g.encoded_bytes());
  g.encode(encoded.data());
  local_graph expected(encoded);
  const auto memory = g.memory();
  const auto downloaded = [&](std::size_t i) {
    auto all = gpu.download(buffer<std::byte>(memory[i].range)).get().value();
    all.resize(expected.memory(i).size());  // a view may be shorter than its memory
    return all;
  };
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i].mode == access_mode::read) std::ranges::copy(downloaded(i), expected.memory(i).begin());
  expected.evaluate();
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i].mode != access_mode::read)
      if (auto wrong = element_difference(memory[i].type, downloaded(i), expected.memory(i)); !wrong.empty())
        return wrong;
  return {};
}

}  // namespace troupe::bench
