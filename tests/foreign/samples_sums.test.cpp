// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <numeric>

#include "source.hpp"

namespace troupe::foreign {
namespace {

/// Prefix sums of each group of `length`.
template <class T>
std::vector<T> prefix_sums(const std::vector<T>& v, std::size_t length, bool inclusive) {
  std::vector<T> out(v.size());
  for (std::size_t i = 0; i < v.size(); i += length) {
    if (inclusive)
      std::inclusive_scan(&v[i], &v[i] + length, &out[i]);
    else
      std::exclusive_scan(&v[i], &v[i] + length, &out[i], T{});
  }
  return out;
}

}  // namespace

FOREIGN_SOURCE(samples, aggregated_atomics, .globals = {"counters"}) {
  const int n = 1000;
  const auto src = integers(n, -3, 3);
  std::vector<int> kept;
  std::copy_if(src.begin(), src.end(), std::back_inserter(kept), [](int v) { return v > 0; });
  std::sort(kept.begin(), kept.end());
  for (const char* kernel : {"filter_simple", "filter_aggregated", "filter_ballot"}) {
    std::vector<int> dst(n), count(1);
    launch(kernel, {blocks(n, 96), 96}, dst, count, src, n);
    dst.resize(std::max(1, count[0]));
    std::sort(dst.begin(), dst.end());
    expect_equal(kernel, dst, kept);
  }

  const auto labels = integers<unsigned>(n, 0, 7);
  std::vector<unsigned> of_labels(8);
  for (const unsigned l : labels) ++of_labels[l];
  launch("count_labels", {blocks(n, 128), 128}, labels, n);
  expect_equal("counters", read_global<unsigned>("counters", 8), of_labels);

  const int threads = 64, warps = 6;
  auto flags = integers(warps * 32, 0, 1);
  std::fill(&flags[32], &flags[64], 1);
  std::fill(&flags[64], &flags[64] + 64, 0);
  std::vector<int> any(warps), all(warps), sums(warps), expected_any(warps), expected_all(warps), expected_sums(warps);
  for (int w = 0; w < warps; ++w) {
    const int *const warp = &flags[w * 32], *const block = &flags[w / 2 * threads];
    expected_any[w] = std::any_of(warp, warp + 32, [](int v) { return v != 0; });
    expected_all[w] = std::all_of(warp, warp + 32, [](int v) { return v != 0; });
    const int sum = std::accumulate(block, block + threads, 0);
    expected_sums[w] = sum + (sum == 0 ? 1000 : 0) + (std::accumulate(block + 32, block + 64, 0) == 32 ? 2000 : 0);
  }
  launch("votes", {warps * 32 / threads, threads}, flags, any, all, sums);
  expect_equal("any", any, expected_any);
  expect_equal("all", all, expected_all);
  expect_equal("counts", sums, expected_sums);
}

FOREIGN_SOURCE(samples, bitonic_sort) {
  const unsigned n = 2048, in_block = 256;
  auto keys = integers<unsigned>(n, 0, 0xffffffff);
  std::vector<unsigned> values(n);
  std::iota(values.begin(), values.end(), 0u);
  const auto original = keys;
  auto expected = keys;
  std::sort(expected.begin(), expected.end());
  launch("sortShared", {n / in_block, in_block / 2}, keys, values);
  for (unsigned size = 2 * in_block; size <= n; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2)
      launch("mergeGlobal", {n / 512, 256}, keys, values, n, size, stride);
  expect_equal("keys", keys, expected);
  for (unsigned& v : values) v = original.at(v);
  expect_equal("keys by values", values, expected);
}

FOREIGN_SOURCE(samples, histogram) {
  const unsigned quads = 1000, words = 4 * quads;
  const auto data = integers<unsigned>(words, 0, 0xffffffff);
  std::vector<unsigned> bins256(256), bins64(64);
  for (const unsigned w : data)
    for (int shift = 0; shift < 32; shift += 8) {
      ++bins256[w >> shift & 255];
      ++bins64[w >> shift >> 2 & 63];
    }
  struct alignas(16) uint4 {
    unsigned x, y, z, w;
  };
  std::vector<uint4> packed(quads);
  std::memcpy(packed.data(), data.data(), words * sizeof(unsigned));
  std::vector<unsigned> out64(64), parts(5 * 256), out256(256);
  launch("histogram64", {4, 64}, out64, packed, quads);
  expect_equal("64 bins", out64, bins64);
  launch("histogram256", {5, 128}, parts, data, words);
  launch("mergeHistograms", {256, 64}, out256, parts, 5u);
  expect_equal("256 bins", out256, bins256);
}

FOREIGN_SOURCE(samples, last_block, .kernels = {"sumSinglePass<128>", "sumSinglePass<32>", "countPositive"}) {
  const unsigned n = 4096;
  const auto in = floats(n);
  const std::vector sum{std::accumulate(in.begin(), in.end(), 0.0)};
  for (const int grid : {7, 1, 7}) {  // the counter must be 0 again
    std::vector<float> parts(grid), out(1);
    launch("sumSinglePass<128>", {grid, 128}, in, parts, out, n);
    expect_near("by blocks of 128", out, sum, 1e-5);
    launch("sumSinglePass<32>", {grid, 32}, in, parts, out, n);
    expect_near("by warps", out, sum, 1e-5);
  }
  std::vector<int> counts(n / 32), expected(n / 32);
  for (unsigned i = 0; i < n; ++i) expected[i / 32] += in[i] > 0;
  launch("countPositive", {n / 64, 64}, in, counts);
  expect_equal("counts", counts, expected);
}

FOREIGN_SOURCE(samples, reduction,
               .kernels = {"sum_modulo<int>", "sum_strided<float>", "sum_while_loading<double>",
                           "sum_unrolled<int, 256, true>", "sum_unrolled<float, 512, false>"}) {
  const unsigned n = 5000;
  const auto whole = integers(n, -1000, 1000);
  const auto check = [&](const char* kernel, int threads, int grid, auto zero) {
    using number = decltype(zero);
    const std::vector<number> in(whole.begin(), whole.end());
    std::vector<number> out(grid);
    launch(kernel, {grid, threads, std::max(threads, 64) * sizeof(number)}, in, out, n);
    expect_near(kernel, std::accumulate(out.begin(), out.end(), 0.0), std::accumulate(whole.begin(), whole.end(), 0.0),
                1e-6);
  };
  check("sum_modulo<int>", 128, blocks(n, 128), 0);
  check("sum_strided<float>", 128, blocks(n, 128), 0.0f);
  check("sum_while_loading<double>", 256, blocks(n, 512), 0.0);
  check("sum_unrolled<int, 256, true>", 256, 4, 0);
  check("sum_unrolled<float, 512, false>", 512, 3, 0.0f);
}

FOREIGN_SOURCE(samples, reduction_partial_warp,
               .kernels = {"sumPartialWarps<int, 64>", "sumPartialWarps<float, 96>", "sumPartialWarps<float, 256>",
                           "sumByGroups<double>"}) {
  const unsigned n = 1000;
  const auto whole = integers(n, -1000, 1000);
  const double expected = std::accumulate(whole.begin(), whole.end(), 0.0);
  const auto check = [&](const char* kernel, int threads, auto zero) {
    using number = decltype(zero);
    std::vector<number> out(3);
    launch(kernel, {3, threads}, std::vector<number>(whole.begin(), whole.end()), out, n);
    expect_near(kernel, std::accumulate(out.begin(), out.end(), 0.0), expected, 1e-6);
  };
  check("sumByGroups<double>", 128, 0.0);
  check("sumPartialWarps<int, 64>", 64, 0);
  check("sumPartialWarps<float, 96>", 96, 0.0f);
  check("sumPartialWarps<float, 256>", 256, 0.0f);
}

FOREIGN_SOURCE(samples, scan) {
  const unsigned quads = 256, length = 128;
  struct alignas(16) uint4 {
    unsigned v[4];
  };
  const auto data = integers<unsigned>(4 * quads, 0, 1000);
  std::vector<uint4> in(quads), out(quads);
  std::memcpy(in.data(), data.data(), data.size() * 4);
  launch("scanShort", {quads / 64, 64}, out, in, length);
  std::vector<unsigned> sums(4 * quads);
  std::memcpy(sums.data(), out.data(), sums.size() * 4);
  expect_equal("short arrays", sums, prefix_sums(data, length, false));

  const int n = 256;
  const auto numbers = floats(n);
  std::vector<float> tree(n);
  launch("scanTree", {1, n / 2, (n + n / 32) * 4}, tree, numbers, n);
  expect_near("by a tree", tree, prefix_sums(std::vector<double>(numbers.begin(), numbers.end()), n, false), 1e-6);
}

FOREIGN_SOURCE(samples, shfl_scan) {
  const int n = 2048, threads = 256, grid = n / threads;
  auto values = integers(n, -100, 100);
  const auto expected = prefix_sums(values, n, true);
  std::vector<int> totals(grid), none(1);
  launch("scan_blocks", {grid, threads, 32 * 4}, values, 32, totals);
  launch("scan_blocks", {1, grid, 32 * 4}, totals, grid, none);
  launch("add_totals", {grid, threads}, values, totals, n);
  expect_equal("sums", values, expected);

  const int rows = 3, quads = 96;
  struct alignas(16) uint4 {
    unsigned v[4];
  };
  const auto image = integers<unsigned>(rows * quads * 4, 0, 255);
  std::vector<uint4> in(rows * quads), out(rows * quads);
  std::memcpy(in.data(), image.data(), image.size() * 4);
  launch("integral_rows", {rows, quads}, in, out, quads);
  std::vector<unsigned> sums(image.size());
  std::memcpy(sums.data(), out.data(), sums.size() * 4);
  expect_equal("integral image", sums, prefix_sums(image, quads * 4, true));
}

}  // namespace troupe::foreign
