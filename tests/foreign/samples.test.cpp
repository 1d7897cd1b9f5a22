// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "source.hpp"

namespace troupe::foreign {

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

FOREIGN_SOURCE(samples, transpose) {
  const int width = 64, height = 48;
  const auto in = floats(width * height);
  std::vector<float> transposed(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) transposed[x * height + y] = in[y * width + x];
  const auto check = [&](const char* kernel, const std::vector<float>& expected) {
    std::vector<float> out(width * height);
    launch(kernel, {{width / 16, height / 16}, {16, 8}}, out, in, width, height);
    expect_equal(kernel, out, expected);
  };
  check("copyThroughTile", in);
  check("transposeSimple", transposed);
  check("transposePadded", transposed);
  check("transposeDiagonally", transposed);
}

}  // namespace troupe::foreign
