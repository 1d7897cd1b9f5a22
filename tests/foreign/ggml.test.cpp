// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <numeric>
#include <troupe/base/half.hpp>

#include "source.hpp"

namespace troupe::foreign {
namespace {

/// As in ggml/quants.cuh.
struct q8_block {
  half scale, sum;
  std::int8_t quants[32];
};
struct q4_block {
  half scale;
  std::uint8_t quants[16];
  int of(int j) const { return (j < 16 ? quants[j] & 15 : quants[j - 16] >> 4) - 8; }
};

std::vector<double> numbers(const std::vector<q8_block>& blocks) {
  std::vector<double> out;
  for (const auto& b : blocks)
    for (int j = 0; j < 32; ++j) out.push_back(number(b.scale) * b.quants[j]);
  return out;
}
std::vector<double> numbers(const std::vector<q4_block>& blocks) {
  std::vector<double> out;
  for (const auto& b : blocks)
    for (int j = 0; j < 32; ++j) out.push_back(number(b.scale) * b.of(j));
  return out;
}

}  // namespace

FOREIGN_SOURCE(ggml, argsort, .kernels = {"argsort_f32_i32<ORDER_ASC>", "argsort_f32_i32<ORDER_DESC>"}) {
  const int rows = 5, columns = 100, padded = 128;
  const auto x = floats(rows * columns);
  std::vector<int> ascending(rows * columns);
  for (int r = 0; r < rows; ++r) {
    auto* const row = &ascending[r * columns];
    std::iota(row, row + columns, 0);
    std::sort(row, row + columns, [&](int a, int b) { return x[r * columns + a] < x[r * columns + b]; });
  }
  auto descending = ascending;
  for (int r = 0; r < rows; ++r) std::reverse(&descending[r * columns], &descending[r * columns] + columns);
  std::vector<int> out(rows * columns);
  launch("argsort_f32_i32<ORDER_ASC>", {{1, rows}, padded, padded * 4}, x, out, columns, padded);
  expect_equal("ascending", out, ascending);
  launch("argsort_f32_i32<ORDER_DESC>", {{1, rows}, padded, padded * 4}, x, out, columns, padded);
  expect_equal("descending", out, descending);
}

FOREIGN_SOURCE(ggml, dequantize, .kernels = {"dequantize<read_q4, float>", "dequantize<read_q8, half>"}) {
  const std::int64_t n = 320;
  std::vector<q4_block> q4(n / 32);
  std::vector<q8_block> q8(n / 32);
  const auto scales = floats(n / 32, 0.01, 1);
  const auto bytes = integers(n, 0, 255);
  for (int i = 0; i < n; ++i) {
    q4[i / 32].scale = q8[i / 32].scale = half(scales[i / 32]);
    q8[i / 32].quants[i % 32] = static_cast<std::int8_t>(bytes[i]);
    q4[i / 32].quants[i % 16] = static_cast<std::uint8_t>(bytes[i]);
  }
  std::vector<float> out4(n);
  launch("dequantize<read_q4, float>", {blocks(n / 2, 64), 64}, q4, out4, n / 2);
  expect_near("of 4 bits", out4, numbers(q4), 1e-6);
  std::vector<half> out8(n);
  launch("dequantize<read_q8, half>", {blocks(n / 2, 64), 64}, q8, out8, n / 2);
  expect_near("of 8 bits", out8, numbers(q8), 1e-3);
}

FOREIGN_SOURCE(ggml, im2col,
               .kernels = {"im2col<float>", "im2col<half>", "pool2d<POOL_MAX, float, float>",
                           "pool2d<POOL_AVG, float, float>"}) {
  const std::int64_t batches = 2, channels = 3, ih = 9, iw = 11, k = 3;
  const int stride = 2, pad = 1, dilation = 2;
  const auto out_size = [&](std::int64_t in) { return (in + 2 * pad - dilation * (k - 1) - 1) / stride + 1; };
  const std::int64_t oh = out_size(ih), ow = out_size(iw), row = channels * k * k;
  const auto image = floats(batches * channels * ih * iw);
  const auto at = [&](std::int64_t plane, std::int64_t y, std::int64_t x, float outside) {
    return x < 0 || y < 0 || x >= iw || y >= ih ? outside : image[(plane * ih + y) * iw + x];
  };
  std::vector<float> columns;
  for (int b = 0; b < batches; ++b)
    for (int y = 0; y < oh; ++y)
      for (int x = 0; x < ow; ++x)
        for (int c = 0; c < channels; ++c)
          for (int ky = 0; ky < k; ++ky)
            for (int kx = 0; kx < k; ++kx)
              columns.push_back(
                  at(b * channels + c, y * stride + ky * dilation - pad, x * stride + kx * dilation - pad, 0));
  const shape threads{{blocks(row, 32), ow, oh * batches}, 32};
  std::vector<float> out(columns.size());
  launch("im2col<float>", threads, image, out, channels, ih, iw, k, k, oh, ow, stride, pad, dilation);
  expect_equal("columns", out, columns);
  std::vector<half> narrow(columns.size());
  launch("im2col<half>", threads, image, narrow, channels, ih, iw, k, k, oh, ow, stride, pad, dilation);
  expect_near("columns in half", narrow, columns, 5e-4);

  const int ph = (9 + 2 - 3) / 2 + 1, pw = (11 + 2 - 3) / 2 + 1, count = static_cast<int>(batches * channels) * ph * pw;
  std::vector<double> largest, average;
  for (int i = 0; i < count; ++i) {
    const int plane = i / (ph * pw), y = i / pw % ph * 2 - 1, x = i % pw * 2 - 1;
    double most = -1e9, sum = 0;
    for (int ky = 0; ky < 3; ++ky)
      for (int kx = 0; kx < 3; ++kx) {
        most = std::max<double>(most, at(plane, y + ky, x + kx, -1e9f));
        sum += at(plane, y + ky, x + kx, 0);
      }
    largest.push_back(most);
    average.push_back(sum / 9);
  }
  std::vector<float> pooled(count);
  launch("pool2d<POOL_MAX, float, float>", {blocks(count, 64), 64}, 9, 11, ph, pw, 3, 2, 1, count, image, pooled);
  expect_near("largest", pooled, largest, 0);
  launch("pool2d<POOL_AVG, float, float>", {blocks(count, 64), 64}, 9, 11, ph, pw, 3, 2, 1, count, image, pooled);
  expect_near("average", pooled, average, 1e-6);
}

FOREIGN_SOURCE(ggml, mul_mat_vec_q, .kernels = {"mul_mat_vec_q<1, 2>", "mul_mat_vec_q<4, 1>"}) {
  const int rows = 7, columns = 512;
  std::vector<q4_block> matrix(rows * columns / 32);
  std::vector<q8_block> vector(columns / 32);
  for (auto& b : matrix) {
    b.scale = half(floats(1, 0.01, 0.1)[0]);
    for (auto& q : b.quants) q = integers<std::uint8_t>(1, 0, 255)[0];
  }
  for (auto& b : vector) {
    b.scale = half(floats(1, 0.01, 0.1)[0]);
    double sum = 0;
    for (auto& q : b.quants) sum += q = integers<std::int8_t>(1, -127, 127)[0];
    b.sum = half(static_cast<float>(sum * number(b.scale)));
  }
  const auto m = numbers(matrix), v = numbers(vector);
  std::vector<double> expected(rows);
  for (int r = 0; r < rows; ++r) expected[r] = std::inner_product(v.begin(), v.end(), &m[r * columns], 0.0);
  std::vector<float> out(rows);
  launch("mul_mat_vec_q<1, 2>", {rows, 32}, matrix, vector, out, columns);
  expect_near("by one warp", out, expected, 2e-3);
  launch("mul_mat_vec_q<4, 1>", {rows, {32, 4}}, matrix, vector, out, columns);
  expect_near("by four warps", out, expected, 2e-3);
}

FOREIGN_SOURCE(ggml, quantize) {
  const std::int64_t rows = 3, columns = 100, padded = 128;
  const auto x = floats(rows * columns, -3, 3);
  std::vector<q8_block> q8(rows * padded / 32);
  launch("quantize_q8", {{1, rows}, 128}, x, q8, columns, padded);
  const auto got = numbers(q8);
  for (int r = 0; r < rows; ++r) {
    std::vector<double> row(x.begin() + r * columns, x.begin() + (r + 1) * columns);
    row.resize(padded);
    expect_near("8 bits", std::vector(got.begin() + r * padded, got.begin() + (r + 1) * padded), row, 0.5 / 127 + 1e-3);
    for (int b = 0; b < 4; ++b)
      expect_near("sum of a block", number(q8[r * 4 + b].sum),
                  std::accumulate(row.begin() + b * 32, row.begin() + (b + 1) * 32, 0.0), 2e-3);
  }
  // The element farthest from 0 is exact except for its scale. An element near its opposite would need the quant 8, but
  // 7 is the largest.
  const auto y = floats(320, -3, 3);
  std::vector<q4_block> q4(10);
  launch("quantize_q4", {1, 32}, y, q4, 10);
  expect_near("4 bits", numbers(q4), y, 1.0 / 8 + 1e-3);
}

FOREIGN_SOURCE(ggml, rms_norm, .kernels = {"rms_norm<32>", "rms_norm<256, true>", "norm_f32"}) {
  const int rows = 6, columns = 500;
  const float eps = 1e-5f;
  const auto x = floats(rows * columns, -2, 3), weights = floats(columns);
  std::vector<double> scaled(rows * columns), weighted(rows * columns), normed(rows * columns);
  for (int r = 0; r < rows; ++r) {
    double sum = 0, squares = 0;
    for (int c = 0; c < columns; ++c) {
      const double v = x[r * columns + c];
      sum += v;
      squares += v * v;
    }
    const double mean = sum / columns, variance = squares / columns - mean * mean;
    for (int c = 0; c < columns; ++c) {
      const int i = r * columns + c;
      scaled[i] = x[i] / std::sqrt(squares / columns + eps);
      weighted[i] = scaled[i] * weights[c];
      normed[i] = (x[i] - mean) / std::sqrt(variance + eps);
    }
  }
  std::vector<float> out(rows * columns);
  launch("rms_norm<32>", {rows, 32}, x, out, columns, std::int64_t{columns}, eps, weights);
  expect_near("scaled", out, scaled, 1e-5);
  launch("rms_norm<256, true>", {rows, 256}, x, out, columns, std::int64_t{columns}, eps, weights);
  expect_near("weighted", out, weighted, 1e-5);
  launch("norm_f32", {rows / 2, {32, 2}}, x, out, columns, eps);
  expect_near("normed", out, normed, 1e-5);
}

FOREIGN_SOURCE(ggml, rope, .kernels = {"rope<true, false, false, float>", "rope<false, true, true, float>"}) {
  struct rope_params {
    float freq_base, freq_scale, magnitude;
    int n_dims;
    float ramp[2];
  };
  const int columns = 32, heads = 3, positions = 5, rows = heads * positions;
  const rope_params p{10000, 0.5f, 1.25f, 24, {2, 7}};
  const auto x = floats(rows * columns), factors = floats(columns / 2, 0.5, 2);
  const auto where = integers(positions, 0, 100);
  const auto expected = [&](bool forward, bool split, bool has_factors) {
    std::vector<double> out(x.begin(), x.end());
    for (int r = 0; r < rows; ++r)
      for (int pair = 0; pair < p.n_dims / 2; ++pair) {
        const double turned =
            where[r / heads] * std::pow(10000.0, -2.0 * pair / p.n_dims) / (has_factors ? factors[pair] : 1);
        const double along = std::clamp((pair - 2.0) / 5, 0.0, 1.0), angle = turned * (1 - along / 2);
        const double c = 1.25 * std::cos(angle), s = (forward ? 1.25 : -1.25) * std::sin(angle);
        const int i = r * columns + (split ? pair : 2 * pair), j = split ? i + p.n_dims / 2 : i + 1;
        out[i] = x[i] * c - x[j] * s;
        out[j] = x[i] * s + x[j] * c;
      }
    return out;
  };
  const shape threads{{rows, 2}, {1, 8}};
  std::vector<float> out(rows * columns);
  launch("rope<true, false, false, float>", threads, x, out, columns, heads, where, p, factors);
  expect_near("neighbours", out, expected(true, false, false), 1e-4);
  launch("rope<false, true, true, float>", threads, x, out, columns, heads, where, p, factors);
  expect_near("back, by halves", out, expected(false, true, true), 1e-4);
}

FOREIGN_SOURCE(ggml, soft_max, .kernels = {"soft_max<true, 0, float>", "soft_max<false, 128, half>"}) {
  const int heads = 4, mask_rows = 3;
  const auto check = [&](const char* kernel, int columns, auto mask, float bias, int threads, int shared_bytes) {
    const auto x = floats(heads * mask_rows * columns, -3, 3);
    std::vector<double> expected;
    for (int r = 0; r < heads * mask_rows; ++r) {
      const double slope = bias > 0 ? std::exp2(-bias * (r / mask_rows + 1) / heads) : 1;
      double sum = 0;
      for (int c = 0; c < columns; ++c)
        sum += expected.emplace_back(
            std::exp(0.5 * x[r * columns + c] + slope * static_cast<float>(mask[r % mask_rows * columns + c])));
      for (int c = 0; c < columns; ++c) expected[r * columns + c] /= sum;
    }
    std::vector<float> out(x.size());
    launch(kernel, {heads * mask_rows, threads, shared_bytes}, x, mask, out, columns, mask_rows, 0.5f, bias,
           std::uint32_t{heads});
    expect_near(kernel, out, expected, 1e-5);
  };
  auto mask = floats(mask_rows * 200, -2, 0);
  mask[17] = -std::numeric_limits<float>::infinity();
  check("soft_max<true, 0, float>", 200, mask, 0, 96, (32 + 200) * 4);
  const auto narrow = floats(mask_rows * 128, -2, 0);
  check("soft_max<false, 128, half>", 128, std::vector<half>(narrow.begin(), narrow.end()), 4, 64, 32 * 4);
}

FOREIGN_SOURCE(ggml, unary,
               .kernels = {"unary_op_kernel<op_silu, float>", "unary_op_kernel<op_gelu, float>",
                           "unary_op_kernel<op_hardswish, half>", "unary_op_kernel<op_step, float>", "swiglu",
                           "diag_mask_inf_f32"}) {
  const int n = 1000;
  const auto x = floats(n, -5, 5);
  const auto check = [&](const char* kernel, const auto& in, auto f, double tolerance) {
    std::vector<double> expected;
    for (const auto v : in) expected.push_back(f(static_cast<double>(static_cast<float>(v))));
    auto out = in;
    launch(kernel, {blocks(n, 256), 256}, in, out, n);
    expect_near(kernel, out, expected, tolerance);
  };
  const auto silu = [](double v) { return v / (1 + std::exp(-v)); };
  check("unary_op_kernel<op_silu, float>", x, silu, 1e-6);
  check(
      "unary_op_kernel<op_gelu, float>", x,
      [](double v) { return v / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); }, 1e-6);
  check(
      "unary_op_kernel<op_hardswish, half>", std::vector<half>(x.begin(), x.end()),
      [](double v) { return v * std::clamp((v + 3) / 6, 0.0, 1.0); }, 5e-4);
  check("unary_op_kernel<op_step, float>", x, [](double v) { return v > 0 ? 1 : 0; }, 0);

  const int rows = 4, width = 32;  // halves of a row
  const auto wide = floats(2 * rows * width, -3, 3);
  const std::vector<half> halves(wide.begin(), wide.end());
  std::vector<double> gated(rows * width);
  for (int i = 0; i < rows * width; ++i) {
    const int at = i / width * 2 * width + i % width;
    gated[i] = silu(number(halves[at])) * number(halves[at + width]);
  }
  struct alignas(4) half2 {
    half x, y;
  };
  const auto pairs = [](const std::vector<half>& v) {
    std::vector<half2> out;
    for (std::size_t i = 0; i < v.size(); i += 2) out.push_back({v[i], v[i + 1]});
    return out;
  };
  auto out = pairs(std::vector<half>(rows * width));
  launch("swiglu", {{1, rows}, 32}, pairs(halves), out, width / 2);
  std::vector<double> got;
  for (const half2& p : out) got.insert(got.end(), {number(p.x), number(p.y)});
  expect_near("swiglu", got, gated, 1e-3);

  std::vector<float> masked(50 * 20);
  launch("diag_mask_inf_f32", {{50, 1}, {1, 20}}, x, masked, 20, 25, 3);
  for (int i = 0; i < 50 * 20; ++i) {
    const bool off = i % 20 > 3 + i / 20 % 25;
    if (off ? masked[i] > -1e38f : masked[i] != x[i])
      throw failure{.wrong = true, .text = "masked[" + std::to_string(i) + "] is " + std::to_string(masked[i])};
  }
}

}  // namespace troupe::foreign
