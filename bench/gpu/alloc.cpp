// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Allocations and frees of device memory. The sizes are 256 B to 1 MiB, distributed evenly by logarithm, and the same
// on both sides.
#include <bench/device_under_test.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <random>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
figures run_gpu_alloc(const settings& s) {
  constexpr int per_round = 1000;
  raw_side raw(s);
  const device_under_test gpu(s);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(8, 20);
  std::vector<std::uint32_t> sizes(per_round);
  for (auto& v : sizes) v = static_cast<std::uint32_t>(std::exp2(exponent(random)));
  const auto each = [&](auto&& f) {
    const std::int64_t start = now_ns();
    for (const std::uint32_t size : sizes) f(size);
    return static_cast<double>(now_ns() - start) / per_round;
  };
  bool valid = true;
  const pair_of_medians found = interleaved(
      s.rounds(301), [&] { return each([&](std::uint32_t size) { valid &= gpu->alloc<std::byte>(size).readable(); }); },
      [&] { return each([&](std::uint32_t size) { raw->alloc_and_free(size); }); });
  const memory_statistics now = gpu->statistics().memory;
  figures f{.ours = found.ours, .raw = found.raw};
  if (now.failed_allocations != 0 || !valid) f.objection = "allocations failed";
  return f;
}

}  // namespace troupe::bench
