// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A layer with a mixture of experts: each token goes through the network of one expert, and experts have very different
// numbers of tokens. Two grouped products compute all experts at once. Compares with one product for each token.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <troupe/base/bfloat16.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/troupe.hpp>
#include <utility>

using namespace troupe;
using epilogue::acc, epilogue::left, epilogue::right;

constexpr int tokens = 512, width = 64, inner = 96, experts = 8;

static std::vector<bfloat16> random_numbers(int count, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(0, size);
  std::vector<bfloat16> out;
  for (int i = 0; i < count; ++i) out.emplace_back(value(random));
  return out;
}

// The router's choice: expert e is half as popular as the one before it.
static std::vector<int> experts_of_tokens() {
  std::mt19937 random(7);
  std::geometric_distribution<int> some(0.5);
  std::vector<int> out;
  for (int t = 0; t < tokens; ++t) out.push_back(std::min(some(random), experts - 1));
  return out;
}

// Returns row `r` of a matrix times the matrix of an expert, with `columns` columns.
static std::vector<float> times(const std::vector<float>& row, const std::vector<bfloat16>& weights, int expert,
                                int columns) {
  std::vector<float> out(static_cast<std::size_t>(columns), 0.0f);
  for (std::size_t k = 0; k < row.size(); ++k)
    for (std::size_t j = 0; j < out.size(); ++j)
      out[j] +=
          row[k] * static_cast<float>(weights[(static_cast<std::size_t>(expert) * row.size() + k) * out.size() + j]);
  return out;
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  const std::vector<bfloat16> x = random_numbers(tokens * width, 1, 1),
                              up = random_numbers(experts * width * 2 * inner, 0.12f, 2),
                              down = random_numbers(experts * inner * width, 0.1f, 3);
  const std::vector<int> expert = experts_of_tokens();

  // Sorts the tokens by expert.
  std::vector<int> order(tokens);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int t) { return std::pair(expert[static_cast<std::size_t>(t)], t); });
  std::vector<bfloat16> sorted;
  std::vector<std::int32_t> counts(experts, 0);
  for (const int t : order) {
    sorted.insert(sorted.end(), x.begin() + t * width, x.begin() + (t + 1) * width);
    ++counts[static_cast<std::size_t>(expert[static_cast<std::size_t>(t)])];
  }

  const matrix rows(gpu.upload(sorted), tokens, width), h(gpu.alloc<bfloat16>(tokens * inner), tokens, inner);
  const matrix y(gpu.alloc<float>(tokens * width), tokens, width);
  const tensor w1(gpu.upload(up), {experts, width, 2 * inner}), w2(gpu.upload(down), {experts, inner, width});
  const auto sizes = gpu.upload(counts);

  gpu.tell(cutlass::gemm_grouped{.a = rows, .b = w1, .d = h, .sizes = sizes, .epilogue = silu(left) * right});
  gpu.tell(cutlass::gemm_grouped{.a = h, .b = w2, .d = y, .sizes = sizes});

  // Computes the same, token by token.
  const std::vector<float> got = gpu.download(y.memory()).get().value();
  std::vector<float> apart(experts, 0), largest(experts, 0);
  for (int i = 0; i < tokens; ++i) {
    const int e = expert[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
    const std::vector<float> token(sorted.begin() + i * width, sorted.begin() + (i + 1) * width);
    const std::vector<float> both = times(token, up, e, 2 * inner);
    std::vector<float> gated;
    for (std::size_t j = 0; j < inner; ++j) {
      const float gate = both[j] / (1 + std::exp(-both[j]));
      gated.push_back(static_cast<float>(bfloat16(gate * both[j + inner])));
    }
    const std::vector<float> want = times(gated, down, e, width);
    for (std::size_t j = 0; j < width; ++j) {
      const float difference = std::fabs(got[static_cast<std::size_t>(i) * width + j] - want[j]);
      float& worst = apart[static_cast<std::size_t>(e)];
      if (!(difference <= worst)) worst = difference;  // keeps NaN
      largest[static_cast<std::size_t>(e)] = std::max(largest[static_cast<std::size_t>(e)], std::fabs(want[j]));
    }
  }
  std::printf("expert   tokens   largest result   differs by\n");
  bool right = true;
  for (std::size_t e = 0; e < experts; ++e) {
    const std::string bar(static_cast<std::size_t>(counts[e]) / 8, '#');
    std::printf("%6zu %8d %16.3f %12.1e   %s\n", e, counts[e], largest[e], apart[e], bar.c_str());
    right = right && apart[e] <= 0.01f * largest[e];
  }
  return right ? 0 : 1;
}
