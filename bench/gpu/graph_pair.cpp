// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bench/element_difference.hpp>
#include <bench/gpu/graph_pair.hpp>
#include <bench/host/jit_kernels.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/plan/disk_cache.hpp>

namespace troupe::bench {
namespace {

std::vector<std::byte> encoded(const dnn::graph& g) {
  std::vector<std::byte> out(g.encoded_bytes());
  g.encode(out.data());
  return out;
}

std::vector<std::byte> downloaded(const device& gpu, const dnn::graph::operand& o) {
  return gpu.download(buffer<std::byte>(o.range)).get().value();
}

double seconds_since(std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e9; }

}  // namespace

dnn_sides::dnn_sides(const settings& s, const device_options& how) : gpu(s, how), side(s), raw(side->dnn()) {
  if (plan::disk_cache::default_folder().empty())
    throw bad_result(
        error(reaction::unsupported, "bench",
              "both sides share a plan through the disk cache, which is off; set TROUPE_CACHE to a folder"));
}

graph_pair::graph_pair(const dnn_sides& on, dnn::computation request, raw_calls how)
    : gpu_(*on.gpu), request_(std::move(request)) {
  gpu_.ask(request_).get().value();
  const auto bytes = encoded(request_.graph);
  raw_ = how == raw_calls::three ? on.raw->three_calls(bytes)
                                 : on.raw->graph(bytes, request_.options.repeatability == dnn::repeatability::always);
  const auto memory = request_.graph.memory();
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i].mode == access_mode::read) raw_->upload(i, downloaded(gpu_, memory[i]));
}

pair_of_medians graph_pair::seconds(int rounds) {
  const auto raw = [&](int times) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < times; ++i) raw_->run();
    raw_->synchronize();
    return seconds_since(start) / times;
  };
  const auto tell = [&] {
    if (const auto accepted = gpu_.tell(request_); !accepted) throw bad_result(accepted.error());
  };
  (void)raw(1);
  // Runs each side for a tenth of a second: a GPU may take a millisecond to switch to another process.
  const int times = static_cast<int>(std::clamp(0.1 / std::max(raw(2), 1e-6), 2., 10'000.));
  return interleaved(
      rounds,
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 1; i < times; ++i) tell();
        gpu_.ask(request_).get().value();
        return seconds_since(start) / times;
      },
      [&] { return raw(times); });
}

std::string graph_pair::difference() const {
  const auto memory = request_.graph.memory();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].mode == access_mode::read) continue;
    const auto ours = downloaded(gpu_, memory[i]);
    std::vector<std::byte> theirs(ours.size());
    raw_->download(i, theirs);
    if (const std::string wrong = element_difference(memory[i].type, ours, theirs); !wrong.empty())
      return cat("the results differ: ", wrong);
  }
  return {};
}

void add_case(case_list& to, const std::string& name, double work, int count, const settings& s, const dnn_sides& on,
              const dnn::computation& request, raw_calls how) {
  std::unique_ptr<graph_pair> both;
  try {
    both = std::make_unique<graph_pair>(on, request, how);
  } catch (const bad_result& none) {
    if (none.error().reaction() != reaction::unsupported) throw;
    return to.leave_out(name, none.error().text());
  }
  const pair_of_medians found = both->seconds(s.rounds(7));
  to.add(name, work, count, found, both->difference());
}

std::vector<float> repeated_numbers(std::int64_t count, std::uint64_t seed) {
  // Not a power of 2, so that parts of an operand differ from each other.
  constexpr std::int64_t most = (1 << 20) + 8 * 37;
  return random_floats(std::min(count, most), seed);
}

template <class T>
buffer<T> random_buffer(const device& gpu, std::int64_t count, std::uint64_t seed) {
  const std::vector<float> numbers = repeated_numbers(count, seed);
  std::vector<T> one(numbers.size());
  std::transform(numbers.begin(), numbers.end(), one.begin(), [](float x) { return T(x); });
  const auto out = gpu.alloc<T>(static_cast<std::size_t>(count));
  const auto length = static_cast<std::int64_t>(one.size());
  for (std::int64_t at = 0; at < count; at += length) {
    const std::int64_t here = std::min(length, count - at);
    gpu.upload(out.slice(at, here), std::vector<T>(one.begin(), one.begin() + here));
  }
  return out;
}
template buffer<half> random_buffer<half>(const device&, std::int64_t, std::uint64_t);
template buffer<bfloat16> random_buffer<bfloat16>(const device&, std::int64_t, std::uint64_t);

}  // namespace troupe::bench
