// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Fourier transforms by the library actor fft, compared with cuFFT alone, on the same data: large ones, of which a few
// are queued at a time; many small ones; and a single very small one.
#include <bench/device_under_test.hpp>
#include <bench/gpu/bursts.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/fft.hpp>

namespace troupe::bench {
namespace {

using elements = std::vector<complex64>;

elements random_elements(std::int64_t count) {
  const std::vector<float> numbers = random_floats(2 * count, 1);
  elements out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = complex64(numbers[2 * i], numbers[2 * i + 1]);
  return out;
}
elements impulse(std::int64_t count) {
  elements out(static_cast<std::size_t>(count));
  out[0] = complex64(0.75f, 0);
  return out;
}

// Returns a buffer filled with copies of `one`.
buffer<complex64> filled(const device& gpu, const elements& one, std::int64_t count) {
  const auto b = gpu.alloc<complex64>(count);
  const auto length = static_cast<std::int64_t>(one.size());
  for (std::int64_t at = 0; at < count; at += length) gpu.upload(b.slice(at, length), one);
  return b;
}

// Compares results, which are about as large as the root of `n`.
std::string difference(const elements& ours, const elements& raw, std::int64_t n) {
  const double allowed = 1e-5 * std::sqrt(static_cast<double>(n));
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(double{ours[i].real} - double{raw[i].real}) <= allowed &&
          std::abs(double{ours[i].imag} - double{raw[i].imag}) <= allowed))
      return cat("the transforms differ: element ", i, " is ", std::to_string(ours[i].real), " + ",
                 std::to_string(ours[i].imag), " i, by cuFFT ", std::to_string(raw[i].real), " + ",
                 std::to_string(raw[i].imag), " i");
  return {};
}

struct totals {
  double logarithm_of_ours = 0, logarithm_of_raw = 0, least = std::numeric_limits<double>::infinity();
  int count = 0;
  std::string note = {}, wrong = {};
};

void compare(const settings& s, raw_side& raw, const device& gpu, const char* name, const std::vector<int>& extents,
             int batch, int times, totals& all) {
  const fft::shape n = extents.size() == 1 ? fft::shape(extents[0]) : fft::shape(extents[0], extents[1], extents[2]);
  const std::int64_t points = n.count().value(), count = points * batch;
  const elements one = random_elements(std::min<std::int64_t>(points, 1 << 20));
  const auto bare = raw->transforms(extents, batch, 1, std::as_bytes(std::span(one)));
  const auto from = filled(gpu, one, count), to = gpu.alloc<complex64>(count);
  const fft::c2c<complex64> request{.input = from, .output = to, .n = n, .batch = batch};
  const double flops = 5. * static_cast<double>(count) * std::log2(static_cast<double>(points)) * times;
  const auto rate = [&](std::int64_t start) { return flops / static_cast<double>(now_ns() - start) / 1e3; };
  const pair_of_medians found = interleaved(
      s.rounds(11),
      [&] {
        gpu.fill(to.slice(0, 4096), complex64{}).get().value();
        const std::int64_t start = now_ns();
        run_queued(gpu, request, times);
        return rate(start);
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 0; i < times; ++i) bare->run(0);
        bare->synchronize();
        return rate(start);
      });
  // Compares a part only, because an error anywhere in a transform affects all of its results.
  const std::int64_t compared = std::min<std::int64_t>(points, 1 << 18);
  for (int i = 0; i < batch && all.wrong.empty(); i += std::max(1, batch / 4)) {
    elements theirs(static_cast<std::size_t>(compared));
    bare->download(static_cast<std::size_t>(i * points), std::as_writable_bytes(std::span(theirs)));
    all.wrong = difference(gpu.download(to.slice(i * points, compared)).get().value(), theirs, points);
    if (!all.wrong.empty()) all.wrong = cat(name, ": ", all.wrong);
  }
  char text[100];
  std::snprintf(text, sizeof text, "%s%s: %.2f, ratio %.3f", all.note.empty() ? "" : "; ", name, found.ours,
                found.ours / found.raw);
  all.note += text;
  all.logarithm_of_ours += std::log(found.ours);
  all.logarithm_of_raw += std::log(found.raw);
  all.least = std::min(all.least, found.ours / found.raw);
  ++all.count;
}

}  // namespace

figures run_gpu_fft_c2c(const settings& s) {
  raw_side raw(s);
  const device_under_test gpu(s, {.libraries = {"fft"}, .wait = wait_policy::latency});
  totals all;
  compare(s, raw, *gpu, "64 of 2^20", {1 << 20}, 64, 30, all);
  compare(s, raw, *gpu, "512^3", {512, 512, 512}, 1, 10, all);
  compare(s, raw, *gpu, "8 of 1000003, a prime", {1'000'003}, 8, 10, all);
  figures f{.ours = std::exp(all.logarithm_of_ours / all.count), .raw = std::exp(all.logarithm_of_raw / all.count)};
  f.note = all.note;
  f.objection = all.wrong;
  if (all.least < 0.99) f.missed = "every ratio to cuFFT >= 0.99";
  return f;
}

figures run_gpu_fft_small(const settings& s) {
  constexpr int count = 10'000;
  constexpr std::int64_t n = 256;
  raw_side raw(s);
  const device_under_test gpu(s, {.mailbox_capacity = 16384, .libraries = {"fft"}, .wait = wait_policy::latency});
  const elements one = s.engine == "host" ? impulse(n) : random_elements(n * count);
  const std::vector<int> extents{static_cast<int>(n)};
  const auto bare = raw->transforms(extents, 1, count, std::as_bytes(std::span(one)));
  const auto from = filled(*gpu, one, n * count), to = gpu->alloc<complex64>(n * count);
  std::vector<fft::c2c<complex64>> requests;
  for (std::int64_t i = 0; i < count; ++i)
    requests.push_back({.input = from.slice(i * n, n), .output = to.slice(i * n, n), .n = n});
  figures f = burst(s.rounds(31), *gpu, requests, [&](int i) { bare->run(i); }, [&] { bare->synchronize(); });
  if (!f.objection.empty()) return f;
  elements theirs(static_cast<std::size_t>(n * count));
  bare->download(0, std::as_writable_bytes(std::span(theirs)));
  f.objection = difference(gpu->download(to).get().value(), theirs, n);
  return f;
}

figures run_gpu_fft_ask(const settings& s) {
  constexpr int n = 8, each = 1000;
  raw_side raw(s);
  const device_under_test gpu(s, {.libraries = {"fft"}, .wait = wait_policy::latency});
  const elements one = impulse(n);
  const std::vector<int> extents{n};
  const auto bare = raw->transforms(extents, 1, 1, std::as_bytes(std::span(one)));
  const auto from = filled(*gpu, one, n), to = gpu->alloc<complex64>(n);
  const fft::c2c<complex64> request{.input = from, .output = to, .n = n};
  std::vector<double> ours, raws;
  const pair_of_medians found = interleaved(
      s.rounds(31), [&] { return median_of_each(each, ours, [&] { gpu->ask(request).get().value(); }); },
      [&] {
        return median_of_each(each, raws, [&] {
          bare->run(0);
          bare->poll_until_done();
        });
      });
  figures f{.ours = found.ours, .raw = found.raw};
  elements theirs(n);
  bare->download(0, std::as_writable_bytes(std::span(theirs)));
  f.objection = difference(gpu->download(to).get().value(), theirs, n);
  return f;
}

}  // namespace troupe::bench
