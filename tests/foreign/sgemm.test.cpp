// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

namespace troupe::foreign {

namespace {

/// alpha A B + beta C, row-major.
std::vector<double> product(int rows, int columns, int inner, double alpha, const std::vector<float>& a,
                            const std::vector<float>& b, double beta, const std::vector<float>& c) {
  std::vector<double> out(c.begin(), c.end());
  for (double& v : out) v *= beta;
  for (int i = 0; i < rows; ++i)
    for (int l = 0; l < inner; ++l)
      for (int j = 0; j < columns; ++j) out[i * columns + j] += alpha * a[i * inner + l] * b[l * columns + j];
  return out;
}

constexpr int m = 128, n = 192, k = 64;

}  // namespace

/// All kernels must give the same result.
#define SGEMM_CASE(name, kernel, ...)                                 \
  FOREIGN_SOURCE(sgemm, name, .kernels = {kernel}) {                  \
    const auto a = floats(m * k), b = floats(k * n);                  \
    auto c = floats(m * n);                                           \
    const auto expected = product(m, n, k, 0.5, a, b, 3, c);          \
    launch(kernel, shape{__VA_ARGS__}, m, n, k, 0.5f, a, b, 3.0f, c); \
    expect_near("C", c, expected, 1e-5);                              \
  }

SGEMM_CASE(blocktiling_1d, "sgemm_1d_blocktiling<64, 64, 8, 8>", {n / 64, m / 64}, 512)
SGEMM_CASE(blocktiling_2d, "sgemm_2d_blocktiling<64, 64, 8, 8, 8>", {n / 64, m / 64}, 64)
SGEMM_CASE(double_buffered, "sgemm_double_buffered<64, 64, 16, 8, 4>", {n / 64, m / 64}, 128)
SGEMM_CASE(shared, "sgemm_shared<32>", {m / 32, n / 32}, 32 * 32)
SGEMM_CASE(vectorized, "sgemm_vectorized<64, 64, 8, 8, 4>", {n / 64, m / 64}, 128)
SGEMM_CASE(warptiling, "sgemm_warptiling<128, 64, 16, 64, 32, 2, 4, 8>", {n / 64, m / 128}, 128)

FOREIGN_SOURCE(sgemm, naive, .kernels = {"sgemm_naive", "sgemm_coalesced<32>"}) {
  const int odd_m = 70, odd_n = 50, odd_k = 33;
  const auto a = floats(odd_m * odd_k), b = floats(odd_k * odd_n), before = floats(odd_m * odd_n);
  const auto expected = product(odd_m, odd_n, odd_k, 0.5, a, b, 3, before);
  auto c = before;
  launch("sgemm_naive", {{blocks(odd_m, 32), blocks(odd_n, 32)}, {32, 32}}, odd_m, odd_n, odd_k, 0.5f, a, b, 3.0f, c);
  expect_near("C, one by one", c, expected, 1e-5);
  c = before;
  launch("sgemm_coalesced<32>", {{blocks(odd_m, 32), blocks(odd_n, 32)}, 1024}, odd_m, odd_n, odd_k, 0.5f, a, b, 3.0f,
         c);
  expect_near("C, by rows", c, expected, 1e-5);
}

}  // namespace troupe::foreign
