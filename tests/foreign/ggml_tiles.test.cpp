// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Sources in the manner of ggml that choose by CUDART_VERSION and __CUDA_ARCH__ what they include and run.
#include <cstring>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>

#include "source.hpp"

namespace troupe::foreign {
namespace {

/// As in ggml/fp4.cu.
struct mx_block {
  std::uint8_t scale;
  std::uint8_t quants[16];
  double of(int j) const {
    const std::uint8_t code = j < 16 ? quants[j] & 15 : quants[j - 16] >> 4;
    return number(float4_e2m1::from_bits(code)) * number(float8_e8m0::from_bits(scale));
  }
};
struct nv_block {
  std::uint8_t scales[4];
  std::uint8_t quants[32];
  double of(int j) const {
    const int group = j / 16, in_group = j % 16;
    const std::uint8_t byte = quants[group * 8 + in_group % 8], code = in_group < 8 ? byte & 15 : byte >> 4;
    return number(float4_e2m1::from_bits(code)) * number(float8_e4m3::from_bits(scales[group]));
  }
};

}  // namespace

FOREIGN_SOURCE(ggml, fp4) {
  const int n = 512;
  std::vector<mx_block> mx(n / 32);
  std::vector<nv_block> nv(n / 64);
  const auto bytes = integers(n, 0, 255);
  for (int i = 0; i < n; ++i) {
    mx[i / 32].quants[i % 16] = nv[i / 64].quants[i % 32] = static_cast<std::uint8_t>(bytes[i]);
    mx[i / 32].scale = static_cast<std::uint8_t>(120 + bytes[i] % 16);
    nv[i / 64].scales[i % 4] = static_cast<std::uint8_t>(bytes[i] % 127);
  }
  std::vector<double> expected_mx(n), expected_nv(n);
  for (int i = 0; i < n; ++i) {
    expected_mx[i] = mx[i / 32].of(i % 32);
    expected_nv[i] = nv[i / 64].of(i % 64);
  }
  std::vector<float> from_mx(n);
  launch("dequantize_mx", {blocks(n / 8, 32), 32}, mx, from_mx, n);
  expect_near("of 4 bits by powers of two", from_mx, expected_mx, 0);
  std::vector<bfloat16> from_nv(n);
  launch("dequantize_nv", {blocks(n / 2, 64), 64}, nv, from_nv, n);
  expect_near("of 4 bits by scales of 8", from_nv, expected_nv, 0);

  struct alignas(16) float4 {
    float x, y, z, w;
  };
  const auto x = floats(n, -10, 10);
  std::vector<float4> fours(n / 4);
  std::memcpy(fours.data(), x.data(), n * sizeof(float));
  std::vector<mx_block> quantized(n / 32);
  launch("quantize_mx", {n / 4 / 64, 64}, fours, quantized);
  std::vector<int> codes(n + n / 32), expected_codes(n + n / 32);
  for (int i = 0; i < n; ++i) {
    float largest = 0;
    for (int j = 0; j < 32; ++j) largest = std::max(largest, std::abs(x[i / 32 * 32 + j]));
    const auto scale = float8_e8m0::convert(largest / 6.0f, on_overflow::saturate, scale_rounding::up);
    expected_codes[i] = float4_e2m1(x[i] / static_cast<float>(scale)).bits;
    expected_codes[n + i / 32] = scale.bits;
    const std::uint8_t byte = quantized[i / 32].quants[i % 16];
    codes[i] = i % 32 < 16 ? byte & 15 : byte >> 4;
    codes[n + i / 32] = quantized[i / 32].scale;
  }
  expect_equal("codes and scales", codes, expected_codes);
}

FOREIGN_SOURCE(ggml, mul_mat_tiles, .kernels = {"mul_mat_vec_bytes<4>", "mul_mat_tile", "keep_above"}) {
  const int rows = 12, words = 96;
  const auto a = integers<std::int8_t>(rows * words * 4, -128, 127), x = integers<std::int8_t>(words * 4, -128, 127);
  std::vector<int> products(rows), expected(rows);
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < 4 * words; ++i) expected[r] += a[r * 4 * words + i] * x[i];
  const auto as_words = [](const std::vector<std::int8_t>& bytes) {
    std::vector<int> out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  };
  launch("mul_mat_vec_bytes<4>", {rows / 4, {32, 4}, words * 4}, as_words(a), as_words(x), products, words);
  expect_equal("rows times a column", products, expected);

  const auto left = integers<std::int8_t>(16 * 32, -128, 127), right = integers<std::int8_t>(8 * 32, -128, 127);
  std::vector<int> tile(16 * 8), expected_tile(16 * 8);
  for (int i = 0; i < 16 * 8; ++i)
    for (int k = 0; k < 32; ++k) expected_tile[i] += left[i / 8 * 32 + k] * right[i % 8 * 32 + k];
  launch("mul_mat_tile", {1, 32}, as_words(left), as_words(right), tile);
  expect_equal("a tile", tile, expected_tile);

  struct alignas(4) half2 {
    half x, y;
  };
  const auto values = floats(128);
  std::vector<half2> in(64), kept(64);
  std::vector<half> kept_numbers, expected_kept;
  for (int i = 0; i < 128; ++i) {
    const half v(values[i]);
    (i % 2 == 0 ? in[i / 2].x : in[i / 2].y) = v;
    expected_kept.push_back(number(v) > 0.25 ? v : half(0.0f));
  }
  launch("keep_above", {1, 64}, in, kept, half(0.25f));
  for (const half2& pair : kept) kept_numbers.insert(kept_numbers.end(), {pair.x, pair.y});
  expect_near("above", kept_numbers, expected_kept, 0);
}

}  // namespace troupe::foreign
