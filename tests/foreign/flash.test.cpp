// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "source.hpp"

namespace troupe::foreign {

FOREIGN_SOURCE(flash, flash_attention) {
  const int batches = 2, heads = 3, n = 64, d = 16, tile = 32;
  const std::size_t count = batches * heads * n * d;
  const auto q = floats(count, -2, 2), k = floats(count, -2, 2), v = floats(count);
  const double scale = 1 / std::sqrt(d);
  std::vector<double> expected(count);
  for (int head = 0; head < batches * heads; ++head)
    for (int i = 0; i < n; ++i) {
      const auto row = [&](const std::vector<float>& of, int r) { return of.data() + (head * n + r) * d; };
      double sum = 0, *out = expected.data() + (head * n + i) * d;
      for (int j = 0; j < n; ++j) {
        double s = 0;
        for (int x = 0; x < d; ++x) s += double{row(q, i)[x]} * row(k, j)[x];
        const double e = std::exp(s * scale);
        sum += e;
        for (int x = 0; x < d; ++x) out[x] += e * row(v, j)[x];
      }
      for (int x = 0; x < d; ++x) out[x] /= sum;
    }
  std::vector<float> l(batches * heads * n), m(l.size(), -std::numeric_limits<float>::infinity()), out(count);
  launch("forward_kernel", {{batches, heads}, tile, (3 * tile * d + tile * tile) * 4}, q, k, v, n, d, n / tile,
         n / tile, tile, tile, float(scale), l, m, out);
  expect_near("O", out, expected, 1e-5);
}

}  // namespace troupe::foreign
