// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies of a gigabyte in each direction, and a computation whose data are copied to and from the GPU in chunks, which
// takes longer unless the copies overlap with the kernels.
#include <algorithm>
#include <bench/device_under_test.hpp>
#include <bench/gpu/kernels.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cstring>
#include <numeric>
#include <thread>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

constexpr std::size_t bytes = std::size_t{1} << 30, words = bytes / sizeof(std::uint32_t);

template <class F>
double gigabytes_per_second(double moved, F&& f) {
  const std::int64_t start = now_ns();
  f();
  return moved / static_cast<double>(now_ns() - start);
}

void count_up(std::span<std::uint32_t> to) { std::iota(to.begin(), to.end(), 0x12345678u); }

// Words throughout the copied memory that are different in each round, so that skipped copies and early answers are
// detected. Writing and reading them is not part of the measured time.
class stamped {
 public:
  explicit stamped(std::span<std::uint32_t> from) : from_(from) {}
  void before() {
    ++round_;
    write(round_);
  }
  /// Returns the rate of a copy from the GPU.
  template <class F>
  double sent(F&& copy) {
    before();
    const double rate = gigabytes_per_second(bytes, copy);
    write(~round_);
    return rate;
  }
  void as_sent() { write(round_); }
  static bool equal(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
    for (std::size_t i = 0; i < a.size(); i += apart)
      if (a[i] != b[i]) return false;
    return a.back() == b.back();
  }

 private:
  static constexpr std::size_t apart = std::size_t{1} << 20;
  void write(std::uint32_t stamp) {
    for (std::size_t i = 0; i < from_.size(); i += apart) from_[i] = stamp;
    from_.back() = stamp;
  }
  std::span<std::uint32_t> from_;
  std::uint32_t round_ = 0;
};

constexpr const char* not_the_same = "the downloaded data differ from the uploaded data";

// The raw side spins as well, in cuStreamSynchronize.
const device_options spinning{.wait = wait_policy::latency};

struct both_ways {
  device_under_test gpu;
  host_buffer<std::uint32_t> from, to;
  buffer<std::uint32_t> there;

  explicit both_ways(const settings& s)
      : gpu(s, spinning),
        from(gpu->alloc_host<std::uint32_t>(words)),
        to(gpu->alloc_host<std::uint32_t>(words)),
        there(gpu->alloc<std::uint32_t>(words)) {
    for (const auto* b : {&from, &to})
      if (!b->readable()) throw bad_result(*b->cause());
    count_up({from.data(), words});
    std::memset(to.data(), 0, bytes);
  }
  void in() const { gpu->upload(there, from).get().value(); }
  void out() const { gpu->download(there, to).get().value(); }
  std::span<std::uint32_t> source() const { return {from.data(), words}; }
  std::span<std::uint32_t> target() const { return {to.data(), words}; }
  std::string objection() const { return std::memcmp(from.data(), to.data(), bytes) == 0 ? "" : not_the_same; }
};

// Compares downloads from `from` to `to` with raw copies to pinned memory.
template <class Download>
figures compare_downloads(raw_copies& bare, int rounds, std::span<const std::uint32_t> from,
                          std::span<std::uint32_t> to, Download&& download) {
  stamped target(to);
  std::string objection;
  const pair_of_medians found = interleaved(
      rounds,
      [&] {
        target.before();
        const double rate = gigabytes_per_second(bytes, download);
        if (!stamped::equal(from, to)) objection = not_the_same;
        return rate;
      },
      [&] { return gigabytes_per_second(bytes, [&] { bare.out(); }); });
  if (!std::equal(from.begin(), from.end(), to.begin(), to.end())) objection = not_the_same;
  return {.ours = found.ours, .raw = found.raw, .objection = objection};
}

constexpr const char* work = R"(
__global__ void work(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int k = 0; k < 1024; ++k) v = v * 0.999f + 0.001f;
  y[i] = v;
}
)";

}  // namespace

figures run_gpu_copy_in(const settings& s) {
  raw_side raw(s);
  const auto bare = raw->copies(bytes);
  const both_ways ours(s);
  stamped source(ours.source());
  const pair_of_medians found = interleaved(
      s.rounds(15), [&] { return source.sent([&] { ours.in(); }); },
      [&] { return gigabytes_per_second(bytes, [&] { bare->in(); }); });
  source.as_sent();
  ours.out();
  return {.ours = found.ours, .raw = found.raw, .objection = ours.objection()};
}

figures run_gpu_copy_out(const settings& s) {
  raw_side raw(s);
  const auto bare = raw->copies(bytes);
  const both_ways ours(s);
  ours.in();
  return compare_downloads(*bare, s.rounds(15), ours.source(), ours.target(), [&] { ours.out(); });
}

figures run_gpu_copy_pageable(const settings& s) {
  raw_side raw(s);
  const auto bare = raw->copies(bytes);
  const device_under_test gpu(s, spinning);
  std::vector<std::uint32_t> from(words), to(words);
  count_up(from);
  const auto there = gpu->alloc<std::uint32_t>(words);
  stamped source(from);
  const pair_of_medians found = interleaved(
      s.rounds(9), [&] { return source.sent([&] { gpu->upload(there, from).get().value(); }); },
      [&] { return gigabytes_per_second(bytes, [&] { bare->in_from(from.data()); }); });
  source.as_sent();
  gpu->download(there, std::span(to)).get().value();
  return {.ours = found.ours, .raw = found.raw, .objection = to == from ? "" : not_the_same};
}

figures run_gpu_download_pageable(const settings& s) {
  raw_side raw(s);
  const auto bare = raw->copies(bytes);
  const device_under_test gpu(s, spinning);
  std::vector<std::uint32_t> from(words), to(words);
  count_up(from);
  const auto there = gpu->alloc<std::uint32_t>(words);
  gpu->upload(there, from).get().value();
  return compare_downloads(*bare, s.rounds(9), from, to, [&] { gpu->download(there, std::span(to)).get().value(); });
}

// Each thread has its own targets and data.
figures run_gpu_small(const settings& s) {
  constexpr int all = 100'000, threads = 4, targets = 64, numbers = 1024;
  const device_under_test gpu(s, {.when_full = when_full::wait, .wait = wait_policy::latency});
  struct sender {
    std::vector<buffer<std::uint32_t>> to;
    std::vector<std::uint32_t> from = std::vector<std::uint32_t>(numbers);
  };
  std::vector<sender> senders(threads);
  for (sender& one : senders)
    for (int i = 0; i < targets; ++i) one.to.push_back(gpu->alloc<std::uint32_t>(numbers));
  figures f;
  std::vector<double> each_ns;
  for (int round = 0; round < s.rounds(9); ++round) {
    gpu->ping().get().value();
    const std::int64_t start = now_ns();
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        sender& me = senders[static_cast<std::size_t>(t)];
        for (int i = 0; i < all / threads; ++i) {
          me.from[static_cast<std::size_t>(i % numbers)] = static_cast<std::uint32_t>(round * all + i + t);
          (void)gpu->upload(me.to[static_cast<std::size_t>(i % targets)], me.from);
        }
      });
    for (std::thread& t : running) t.join();
    gpu->sync().get().value();
    each_ns.push_back(static_cast<double>(now_ns() - start) / all);
    for (const sender& one : senders)
      if (gpu->download(one.to[(all / threads - 1) % targets]).get().value() != one.from) f.objection = not_the_same;
  }
  f.ours = median(std::move(each_ns));
  return f;
}

figures run_gpu_overlap(const settings& s) {
  constexpr int chunks = 16, elements = 4 << 20, block = 256;
  raw_side raw(s);
  const device_under_test gpu(s, {.libraries = {"jit"}, .wait = wait_policy::latency});
  const jit::program program = compiled(*gpu, work);
  const auto image = program.image().get().value();
  const auto bare = raw->pipeline(image, chunks, elements, block);
  struct chunk {
    host_buffer<float> from, to;
    buffer<float> x, y;
  };
  std::vector<chunk> all;
  for (int i = 0; i < chunks; ++i) {
    all.push_back({gpu->alloc_host<float>(elements), gpu->alloc_host<float>(elements), gpu->alloc<float>(elements),
                   gpu->alloc<float>(elements)});
    const chunk& c = all.back();
    if (!c.from.readable() || !c.to.readable()) throw bad_result(*(c.from.readable() ? c.to : c.from).cause());
    for (int e = 0; e < elements; ++e) bare->input(i)[e] = c.from.data()[e] = static_cast<float>(e % 1009 + i);
  }
  const auto kernel = program.kernel("work");
  const double moved = 2. * chunks * elements * sizeof(float);
  float our_round = 0, raw_round = 0;  // different in each round, so that skipped chunks are detected
  const pair_of_medians found = interleaved(
      s.rounds(15),
      [&] {
        ++our_round;
        for (const chunk& c : all) c.from.data()[0] = c.from.data()[elements - 1] = our_round;
        return gigabytes_per_second(moved, [&] {
          for (const chunk& c : all) {
            gpu->upload(c.x, c.from);
            gpu->tell(jit::launch{.kernel = kernel,
                                  .grid = kernel::blocks_for(elements, block),
                                  .block = block,
                                  .arguments = {c.x, out(c.y), elements}});
            gpu->download(c.y, c.to);
          }
          gpu->sync().get().value();
        });
      },
      [&] {
        ++raw_round;
        for (int i = 0; i < chunks; ++i) bare->input(i)[0] = bare->input(i)[elements - 1] = raw_round;
        return gigabytes_per_second(moved, [&] { bare->run(); });
      });
  figures f{.ours = found.ours, .raw = found.raw};
  for (int i = 0; i < chunks; ++i) {
    const float* const results = all[static_cast<std::size_t>(i)].to.data();
    if (!std::equal(results, results + elements, bare->output(i))) f.objection = "the results differ";
  }
  return f;
}

}  // namespace troupe::bench
