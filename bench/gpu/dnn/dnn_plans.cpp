// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The first run of graphs for which another process has already made plans.
#include <bench/gpu/graph_pair.hpp>
#include <bench/measures.hpp>
#include <bench/networks/resnet50.hpp>
#include <bench/system/empty_cache.hpp>
#include <cstdio>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

dnn::computation forward(const device& gpu, const convolution_layer& l) {
  const auto empty = [&](std::int64_t n, std::int64_t c, std::int64_t size) {
    const auto b = gpu.alloc<half>(static_cast<std::size_t>(n * c * size * size));
    gpu.fill(b, half(0));
    return channels_last(b, n, c, size, size);
  };
  constexpr std::int64_t images = 8;
  const auto x = empty(images, l.in, l.size), w = empty(l.out, l.in, l.filter), y = empty(images, l.out, l.result());
  return {
      .graph = {write(relu(convolution(dnn::read(x), dnn::read(w), {.padding = l.padding(), .stride = l.stride})), y)}};
}

struct times {
  double first_ms = 0;  ///< of the first graph, whose run also opens the vendor's library
  double ms_for_each = 0;
  std::string wrong = {};
};

// Runs each layer once in a new worker.
times run_all(const settings& s, std::span<const convolution_layer> layers) {
  const device_under_test gpu(s, for_dnn());
  std::vector<dnn::computation> requests;
  for (const convolution_layer& l : layers) requests.push_back(forward(*gpu, l));
  gpu->sync().get().value();
  times out;
  double all = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::int64_t start = now_ns();
    gpu->ask(requests[i]).get().value();
    const double ms = static_cast<double>(now_ns() - start) / 1e6;
    (i == 0 ? out.first_ms : all) += ms;
  }
  out.ms_for_each = all / static_cast<double>(requests.size() - 1);
  const auto found = gpu->ask(dnn::read_statistics{}).get().value();
  if (found.made != requests.size()) out.wrong = cat(found.made, " plans were made for ", requests.size(), " graphs");
  return out;
}

}  // namespace

figures run_dnn_plan_warm(const settings& s) {
  // Small layers for the host engine, which tests use.
  constexpr convolution_layer small[] = {{8, 8, 6, 3}, {8, 16, 6, 1}, {16, 8, 6, 3, 2}};
  const std::span<const convolution_layer> layers =
      s.engine == "host" ? std::span<const convolution_layer>(small) : std::span<const convolution_layer>(resnet50);
  const empty_cache cache;
  const times cold = run_all(s, layers);
  std::vector<double> first, each;
  figures f{.raw = cold.ms_for_each, .objection = cold.wrong};
  for (int i = 0; i < s.rounds(5); ++i) {
    const times warm = run_all(s, layers);
    first.push_back(warm.first_ms), each.push_back(warm.ms_for_each);
    if (f.objection.empty()) f.objection = warm.wrong;
  }
  f.ours = median(std::move(each));
  char text[160];
  std::snprintf(text, sizeof text,
                "%zu plans; the first, with the vendor's library: %.1f ms, without plans on disk %.1f ms",
                layers.size(), median(std::move(first)), cold.first_ms);
  f.note = text;
  return f;
}

}  // namespace troupe::bench
