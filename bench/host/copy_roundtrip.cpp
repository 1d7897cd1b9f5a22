// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Copies ordinary memory to the device and back to other ordinary memory. All of it was accessed before. Compared with
// memcpy in both directions: Troupe may use two cores, one in each process; memcpy uses one.
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cstdio>
#include <cstring>
#include <troupe/base/clock.hpp>

namespace troupe::bench {
namespace {

constexpr std::size_t bytes = std::size_t{256} << 20;

double gigabytes_per_second(std::int64_t ns) { return 2. * bytes / static_cast<double>(ns); }

}  // namespace

figures run_copy_roundtrip(const settings& s) {
  const device_under_test gpu(s);
  std::vector<std::uint64_t> from(bytes / 8), middle(bytes / 8), to(bytes / 8);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = i * 0x9e37'79b9'7f4a'7c15;
  const auto there = gpu->alloc<std::uint64_t>(from.size());

  std::vector<double> up, down;
  figures f;
  const pair_of_medians found = interleaved(
      s.rounds(9),
      [&] {
        const std::int64_t start = now_ns();
        gpu->upload(there, from).get().value();
        const std::int64_t half = now_ns();
        gpu->download(there, std::span(to)).get().value();
        const std::int64_t end = now_ns();
        up.push_back(gigabytes_per_second(half - start) / 2);
        down.push_back(gigabytes_per_second(end - half) / 2);
        return gigabytes_per_second(end - start);
      },
      [&] {
        const std::int64_t start = now_ns();
        std::memcpy(middle.data(), from.data(), bytes);
        std::memcpy(to.data(), middle.data(), bytes);
        return gigabytes_per_second(now_ns() - start);
      },
      [&] {
        up.clear();
        down.clear();
      });
  to.assign(to.size(), 0);
  gpu->download(there, std::span(to)).get().value();
  if (to != from) f.objection = "the downloaded data differ from the uploaded data";
  f.ours = found.ours;
  f.raw = found.raw;
  char note[100];
  std::snprintf(note, sizeof note, "upload %.1f GB/s, download %.1f GB/s", median(std::move(up)),
                median(std::move(down)));
  f.note = note;
  return f;
}

}  // namespace troupe::bench
