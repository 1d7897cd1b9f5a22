// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <numbers>
#include <numeric>
#include <troupe/base/bfloat16.hpp>

#include "source.hpp"

namespace troupe::foreign {

namespace {

std::vector<bfloat16> rounded(const std::vector<float>& v) { return {v.begin(), v.end()}; }
std::vector<double> numbers(const std::vector<bfloat16>& v) {
  std::vector<double> out;
  for (const bfloat16 b : v) out.push_back(static_cast<float>(b));
  return out;
}

/// Softmax of the first `count` numbers.
std::vector<double> softmax(const float* x, int count, double scale = 1) {
  const double most = *std::max_element(x, x + count);
  std::vector<double> out;
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += out.emplace_back(std::exp(scale * (x[i] - most)));
  for (double& v : out) v /= sum;
  return out;
}

/// Means and reciprocal standard deviations of rows.
struct moments {
  std::vector<double> mean, rstd;
  moments(const std::vector<float>& x, int rows, int columns) {
    for (int r = 0; r < rows; ++r) {
      double sum = 0, squares = 0;
      for (int c = 0; c < columns; ++c) sum += x[r * columns + c];
      for (int c = 0; c < columns; ++c) squares += std::pow(x[r * columns + c] - sum / columns, 2);
      mean.push_back(sum / columns);
      rstd.push_back(1 / std::sqrt(squares / columns + 1e-5));
    }
  }
};

}  // namespace

FOREIGN_SOURCE(llm_c, adamw) {
  const long n = 1000;
  const auto params = floats(n), grads = floats(n), m = floats(n), v = floats(n, 0, 1);
  const double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.1;
  const double correction1 = 1 - std::pow(beta1, 3), correction2 = 1 - std::pow(beta2, 3);
  std::vector<double> new_params(n), new_m(n), new_v(n);
  for (int i = 0; i < n; ++i) {
    const double g = grads[i];
    new_m[i] = beta1 * m[i] + (1 - beta1) * g;
    new_v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    const double step = new_m[i] / correction1 / (std::sqrt(new_v[i] / correction2) + eps);
    new_params[i] = params[i] - rate * (step + decay * params[i]);
  }
  for (const char* kernel : {"adamw_kernel1", "adamw_kernel2"}) {
    auto params_out = params, m_out = m, v_out = v;
    launch(kernel, {blocks(n, 512), 512}, params_out, grads, m_out, v_out, n, float(rate), float(beta1), float(beta2),
           float(correction1), float(correction2), float(eps), float(decay));
    expect_near("params", params_out, new_params, 1e-5);
    expect_near("m", m_out, new_m, 1e-5);
    expect_near("v", v_out, new_v, 1e-5);
  }
}

FOREIGN_SOURCE(llm_c, attention_forward) {
  const int b = 2, t = 40, heads = 3, size = 8, c = heads * size;
  const auto inp = floats(b * t * 3 * c, -2, 2);
  std::vector<double> expected(b * t * c);
  const auto part = [&](int batch, int position, int which, int head) {
    return inp.data() + (batch * t + position) * 3 * c + which * c + head * size;
  };
  for (int batch = 0; batch < b; ++batch)
    for (int head = 0; head < heads; ++head)
      for (int i = 0; i < t; ++i) {
        std::vector<float> scores(i + 1);
        for (int j = 0; j <= i; ++j)
          scores[j] = std::inner_product(part(batch, i, 0, head), part(batch, i, 0, head) + size,
                                         part(batch, j, 1, head), 0.0f);
        const auto weights = softmax(scores.data(), i + 1, 1 / std::sqrt(size));
        for (int j = 0; j <= i; ++j)
          for (int x = 0; x < size; ++x)
            expected[(batch * t + i) * c + head * size + x] += weights[j] * part(batch, j, 2, head)[x];
      }
  const int rows = b * heads * t;
  const std::size_t matrix = static_cast<std::size_t>(rows) * t;
  std::vector<float> scores(matrix), att(matrix), out(b * t * c);
  launch("scores_kernel", {blocks(rows * t, 256), 256}, scores, inp, b, t, c, heads);
  launch("rows_kernel", {blocks(rows, 64), 64}, att, scores, rows, t);
  launch("values_kernel", {blocks(rows, 64), 64}, out, att, inp, b, t, c, heads);
  expect_near("out of three kernels", out, expected, 1e-5);

  std::vector<float> q(b * t * c), k = q, v = q, joined = q;
  launch("sort_heads_kernel", {blocks(b * t * c, 256), 256}, q, k, v, inp, b, t, heads, size);
  std::fill(scores.begin(), scores.end(), 0.0f);
  for (int r = 0; r < rows; ++r)  // cuBLAS does this
    for (int j = 0; j < t; ++j)
      scores[r * t + j] = std::inner_product(&q[r * size], &q[r * size] + size, &k[(r / t * t + j) * size], 0.0f);
  std::fill(att.begin(), att.end(), 0.0f);
  launch("rows_online_kernel", {blocks(rows, 4), 128}, att, float(1 / std::sqrt(size)), scores, rows, t);
  std::fill(q.begin(), q.end(), 0.0f);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < t; ++j)
      for (int x = 0; x < size; ++x) q[r * size + x] += att[r * t + j] * v[(r / t * t + j) * size + x];
  launch("join_heads_kernel", {blocks(b * t * c, 256), 256}, q, joined, b, t, heads, size);
  expect_near("out of sorted heads", joined, expected, 1e-5);
}

FOREIGN_SOURCE(llm_c, bias_backward) {
  const int bt = 200, oc = 96;
  const auto dout = floats(bt * oc), dbias = floats(oc);
  std::vector<double> expected(dbias.begin(), dbias.end());
  for (int i = 0; i < bt * oc; ++i) expected[i % oc] += dout[i];
  auto out = dbias;
  launch("bias_backward_kernel1", {oc, 64, 64 * 4}, out, dout, bt, oc);
  expect_near("dbias of blocks", out, expected, 1e-5);
  out = dbias;
  launch("bias_backward_kernel2", {blocks(oc, 32), 256, 256 * 4}, out, dout, bt, oc);
  expect_near("dbias of warps", out, expected, 1e-5);
  out = dbias;
  std::vector<float> scratch(5 * oc);
  launch("bias_backward_kernel3", {{oc / 32, 5}, {32, 8}}, out, scratch, dout, bt, oc);
  expect_near("dbias of the last block", out, expected, 1e-5);
}

FOREIGN_SOURCE(llm_c, crossentropy) {
  const int b = 3, t = 7, v = 50;
  auto probs = floats(b * t * v, 0.01, 1);
  const auto targets = integers(b * t, 0, v - 1);
  const auto dlosses = floats(b * t), before = floats(b * t * v);
  std::vector<double> losses(b * t), gradients(before.begin(), before.end());
  for (int i = 0; i < b * t; ++i) {
    losses[i] = -std::log(double{probs[i * v + targets[i]]});
    for (int j = 0; j < v; ++j) gradients[i * v + j] += (probs[i * v + j] - (j == targets[i])) * dlosses[i];
  }
  std::vector<float> out(b * t);
  launch("crossentropy_forward_kernel", {blocks(b * t, 32), 32}, out, probs, targets, b, t, v);
  expect_near("losses", out, losses, 1e-6);
  auto dlogits = before;
  launch("crossentropy_softmax_backward_kernel", {{blocks(v, 32), b * t}, 32}, dlogits, dlosses, probs, targets, v);
  expect_near("dlogits", dlogits, gradients, 1e-6);
}

FOREIGN_SOURCE(llm_c, encoder_backward) {
  const int b = 3, t = 10, c = 12, vocabulary = 8;
  const auto dout = floats(b * t * c);
  const auto tokens = integers(b * t, 0, vocabulary - 1);
  std::vector<double> dwte(vocabulary * c), dwpe(t * c);
  for (int i = 0; i < b * t * c; ++i) {
    dwte[tokens[i / c] * c + i % c] += dout[i];
    dwpe[i / c % t * c + i % c] += dout[i];
  }
  for (const char* kernel : {"encoder_backward_kernel1", "encoder_backward_kernel2"}) {
    std::vector<float> te(vocabulary * c), pe(t * c);
    launch(kernel, {blocks(b * t * c, 64), 64}, te, pe, dout, tokens, b, t, c);
    expect_near("dwte", te, dwte, 1e-5);
    expect_near("dwpe", pe, dwpe, 1e-5);
  }
}

FOREIGN_SOURCE(llm_c, encoder_forward) {
  const int b = 3, t = 10, c = 12, vocabulary = 20;
  const auto wte = floats(vocabulary * c), wpe = floats(t * c);
  const auto tokens = integers(b * t, 0, vocabulary - 1);
  std::vector<float> expected(b * t * c);
  for (int i = 0; i < b * t * c; ++i) expected[i] = wte[tokens[i / c] * c + i % c] + wpe[i / c % t * c + i % c];
  for (const char* kernel : {"encoder_forward_kernel1", "encoder_forward_kernel2", "encoder_forward_kernel3"}) {
    std::vector<float> out(b * t * c);
    launch(kernel, {blocks(b * t * c, 64), 64}, out, tokens, wte, wpe, b, t, c);
    expect_equal(kernel, out, expected);
  }
}

FOREIGN_SOURCE(llm_c, fused_classifier,
               .kernels = {"fused_classifier_kernel<float, true>", "fused_classifier_kernel<__nv_bfloat16>"}) {
  const int rows = 9, v = 301, p = 304;
  const float dloss = 0.25f;
  const auto inp = rounded(floats(rows * p, -5, 5));
  const std::vector<float> logits(inp.begin(), inp.end());
  auto targets = integers(rows, 0, v - 1);
  targets[4] = -1;
  std::vector<double> losses(rows), gradients(logits.begin(), logits.end()), probs(rows * p);
  for (int r = 0; r < rows; ++r) {
    if (targets[r] < 0) continue;
    const auto row = softmax(&logits[r * p], v);
    losses[r] = -std::log(row[targets[r]]);
    for (int j = 0; j < v; ++j) {
      probs[r * p + j] = row[j];
      gradients[r * p + j] = (row[j] - (j == targets[r])) * dloss;
    }
  }
  auto out = logits;
  std::vector<float> out_losses(rows), out_probs(rows * p);
  launch("fused_classifier_kernel<float, true>", {rows, 128}, out, out_losses, out_probs, dloss, targets, rows, v, p);
  expect_near("losses", out_losses, losses, 1e-5);
  expect_near("probs", out_probs, probs, 1e-5);
  expect_near("gradients", out, gradients, 1e-6);

  auto narrow = inp;
  std::vector<bfloat16> unused(rows * p);
  std::fill(out_losses.begin(), out_losses.end(), 0.0f);
  launch("fused_classifier_kernel<__nv_bfloat16>", {rows, 64}, narrow, out_losses, unused, dloss, targets, rows, v, p);
  expect_near("losses of bfloat16", out_losses, losses, 1e-5);
  expect_near("gradients in bfloat16", narrow, gradients, 1e-3);
}

FOREIGN_SOURCE(llm_c, fused_residual,
               .kernels = {"fused_residual_forward<float, true>", "fused_residual_forward<float, false>"}) {
  const int n = 10, c = 96;
  const auto a = floats(n * c), b = floats(n * c), weight = floats(c), bias = floats(c);
  std::vector<float> sums(n * c);
  for (int i = 0; i < n * c; ++i) sums[i] = a[i] + b[i];
  const moments of(sums, n, c);
  std::vector<double> expected(n * c);
  for (int i = 0; i < n * c; ++i)
    expected[i] = (sums[i] - of.mean[i / c]) * of.rstd[i / c] * weight[i % c] + bias[i % c];
  for (const bool keep : {true, false}) {
    std::vector<float> residual(n * c), normed(n * c), mean(n), rstd(n);
    launch(keep ? "fused_residual_forward<float, true>" : "fused_residual_forward<float, false>",
           {blocks(n, 4), {32, 4}}, residual, normed, mean, rstd, a, b, weight, bias, n, c, std::false_type{});
    expect_equal("residual", residual, sums);
    expect_near("normed", normed, expected, 1e-5);
    if (keep) expect_near("mean", mean, of.mean, 1e-5);
    expect_near("rstd", rstd, keep ? of.rstd : std::vector<double>(n), 1e-5);
  }
}

FOREIGN_SOURCE(llm_c, gelu) {
  const int n = 1024;
  const auto inp = floats(n, -4, 4), dout = floats(n);
  const auto narrow = rounded(inp), narrow_dout = rounded(dout);
  const double factor = std::sqrt(2 / std::numbers::pi);
  const auto gelu = [&](double x) { return 0.5 * x * (1 + std::tanh(factor * (x + 0.044715 * x * x * x))); };
  const auto slope = [&](double x) { return (gelu(x + 1e-4) - gelu(x - 1e-4)) / 2e-4; };
  std::vector<double> expected, of_narrow, gradients;
  for (int i = 0; i < n; ++i) {
    expected.push_back(gelu(inp[i]));
    of_narrow.push_back(gelu(numbers(narrow)[i]));
    gradients.push_back(slope(numbers(narrow)[i]) * numbers(narrow_dout)[i]);
  }
  std::vector<float> out(n);
  launch("gelu_forward_kernel1", {blocks(n, 128), 128}, out, inp, n);
  expect_near("out", out, expected, 1e-6);
  std::vector<bfloat16> narrow_out(n);
  launch("gelu_forward_kernel2", {blocks(n / 8, 64), 64}, narrow_out, narrow, n);
  expect_near("out of bfloat16", narrow_out, of_narrow, 4e-3);
  launch("gelu_backward_kernel", {blocks(n / 8, 64), 64}, narrow_out, narrow, narrow_dout, n);
  expect_near("dinp of bfloat16", narrow_out, gradients, 4e-3);
}

FOREIGN_SOURCE(llm_c, global_norm,
               .kernels = {"norm_kernel1<float>", "norm_kernel2<__nv_bfloat16>", "norm_kernel3<float>", "add_up"}) {
  const std::size_t n = 10000, slices = 4;
  const auto data = floats(n);
  const auto narrow = rounded(data);
  double sum = 0, narrow_sum = 0;
  for (const float v : data) sum += double{v} * v;
  for (const double v : numbers(narrow)) narrow_sum += v * v;
  std::vector<float> out(64);
  launch("norm_kernel1<float>", {7, 256}, out, data, n);
  expect_near("by atomics", out[0], sum, 1e-5);
  out[0] = 0;
  launch("norm_kernel2<__nv_bfloat16>", {{3, slices}, 128}, out, narrow, n / slices, std::ptrdiff_t(n / slices));
  expect_near("of slices", out[0], narrow_sum, 1e-3);
  launch("norm_kernel3<float>", {50, 64}, out, data, n);
  launch("add_up", {1, 64}, out, std::size_t{50});
  expect_near("the same in each run", out[0], sum, 1e-5);
}

FOREIGN_SOURCE(llm_c, layernorm_backward) {
  const int n = 21, c = 100;
  const auto inp = floats(n * c, -1, 3), dout = floats(n * c), weight = floats(c), before = floats(n * c);
  const moments of(inp, n, c);
  const std::vector<float> mean(of.mean.begin(), of.mean.end()), rstd(of.rstd.begin(), of.rstd.end());
  std::vector<double> dinp(before.begin(), before.end()), dweight(c), dbias(c);
  for (int r = 0; r < n; ++r) {
    const auto normed = [&](int j) { return (inp[r * c + j] - of.mean[r]) * of.rstd[r]; };
    double average = 0, along = 0;
    for (int j = 0; j < c; ++j) {
      const double d = double{weight[j]} * dout[r * c + j];
      average += d / c;
      along += d * normed(j) / c;
      dweight[j] += normed(j) * dout[r * c + j];
      dbias[j] += dout[r * c + j];
    }
    for (int j = 0; j < c; ++j)
      dinp[r * c + j] += of.rstd[r] * (double{weight[j]} * dout[r * c + j] - average - normed(j) * along);
  }
  const auto check = [&](const char* kernel, const shape& threads) {
    auto out = before;
    std::vector<float> out_weight(c), out_bias(c);
    launch(kernel, threads, out, out_weight, out_bias, dout, inp, weight, mean, rstd, n, c);
    expect_near("dinp", out, dinp, 1e-5);
    expect_near("dweight", out_weight, dweight, 1e-5);
    expect_near("dbias", out_bias, dbias, 1e-5);
  };
  check("layernorm_backward_kernel1", {blocks(n, 8), 8});
  check("layernorm_backward_kernel2", {blocks(n, 4), 128, 2 * c * 4});
}

FOREIGN_SOURCE(llm_c, layernorm_forward) {
  const int n = 21, c = 100;
  const auto inp = floats(n * c, -1, 3), weight = floats(c), bias = floats(c);
  const moments of(inp, n, c);
  std::vector<double> expected(n * c);
  for (int i = 0; i < n * c; ++i)
    expected[i] = (inp[i] - of.mean[i / c]) * of.rstd[i / c] * weight[i % c] + bias[i % c];
  std::vector<float> out(n * c), mean(n), rstd(n);
  const auto check = [&] {
    expect_near("out", out, expected, 1e-5);
    expect_near("mean", mean, of.mean, 1e-5);
    expect_near("rstd", rstd, of.rstd, 1e-5);
    for (auto* v : {&out, &mean, &rstd}) std::fill(v->begin(), v->end(), 0.0f);
  };
  launch("layernorm_forward_kernel1", {blocks(n, 8), 8}, out, mean, rstd, inp, weight, bias, n, c);
  check();
  launch("mean_kernel", {n, 32, 32 * 4}, mean, inp, c);
  launch("rstd_kernel", {n, 32, 32 * 4}, rstd, inp, mean, c);
  launch("normalization_kernel", {blocks(n * c, 256), 256}, out, inp, mean, rstd, weight, bias, n, c);
  check();
  launch("layernorm_forward_kernel3", {blocks(n, 4), 128}, out, mean, rstd, inp, weight, bias, n, c);
  check();
  launch("layernorm_forward_kernel4", {blocks(n, 4), {32, 4}, (2 + 4) * c * 4}, out, mean, rstd, inp, weight, bias, n,
         c);
  check();
}

FOREIGN_SOURCE(llm_c, matmul_forward) {
  const int bt = 128, c = 64, oc = 256;
  const auto inp = floats(bt * c), weight = floats(oc * c), bias = floats(oc);
  std::vector<double> expected(bt * oc);
  for (int i = 0; i < bt; ++i)
    for (int o = 0; o < oc; ++o) {
      double sum = bias[o];
      for (int k = 0; k < c; ++k) sum += double{inp[i * c + k]} * weight[o * c + k];
      expected[i * oc + o] = sum;
    }
  std::vector<float> out(bt * oc);
  launch("matmul_forward_kernel1", {{bt / 16, oc / 16}, {16, 16}}, out, inp, weight, bias, bt, c, oc);
  expect_near("out, one by one", out, expected, 1e-5);
  std::fill(out.begin(), out.end(), 0.0f);
  launch("matmul_forward_kernel2", {{bt / 128, oc / 128}, {16, 16}}, out, inp, weight, bias, c, oc);
  expect_near("out of tiles", out, expected, 1e-5);
}

FOREIGN_SOURCE(llm_c, residual) {
  const int n = 1002;
  const auto a = floats(n), b = floats(n);
  const auto narrow_a = rounded(a), narrow_b = rounded(b);
  std::vector<float> expected;
  std::vector<bfloat16> narrow_expected;
  for (int i = 0; i < n; ++i) {
    expected.push_back(a[i] + b[i]);
    narrow_expected.emplace_back(static_cast<float>(narrow_a[i]) + static_cast<float>(narrow_b[i]));
  }
  std::vector<float> out(n);
  launch("residual_forward_kernel1", {blocks(n, 256), 256}, out, a, b, n);
  expect_equal("out", out, expected);
  std::fill(out.begin(), out.end(), 0.0f);
  launch("residual_forward_kernel2", {blocks(n / 4 + 1, 64), 64}, out, a, b, n);
  expect_equal("out of fours", out, expected);
  std::vector<bfloat16> narrow(n);
  launch("residual_forward_kernel3", {blocks(n / 2, 64), 64}, narrow, narrow_a, narrow_b, n);
  expect_near("out in bfloat16", narrow, narrow_expected, 0);
}

FOREIGN_SOURCE(llm_c, softmax_backward, .kernels = {"softmax_backward_kernel1", "softmax_backward_kernel2<64>"}) {
  const int heads = 3, t = 45, rows = heads * t;
  const double scale = 0.3;
  const auto scores = floats(rows * t, -2, 2), datt = floats(rows * t);
  std::vector<float> att(rows * t);
  std::vector<double> expected(rows * t);
  for (int r = 0; r < rows; ++r) {
    const int end = r % t + 1;
    const auto row = softmax(&scores[r * t], end);
    std::copy(row.begin(), row.end(), &att[r * t]);
    const double along = std::inner_product(row.begin(), row.end(), &datt[r * t], 0.0);
    for (int i = 0; i < end; ++i) expected[r * t + i] = scale * row[i] * (datt[r * t + i] - along);
  }
  std::vector<float> out(rows * t, 7.0f);
  launch("softmax_backward_kernel1", {{blocks(t, 32), rows}, 32}, out, datt, att, rows, t, float(scale));
  expect_near("by threads", out, expected, 1e-5);
  std::fill(out.begin(), out.end(), 7.0f);
  launch("softmax_backward_kernel2<64>", {rows, 64}, out, datt, att, rows, t, float(scale));
  expect_near("by blocks", out, expected, 1e-5);
}

FOREIGN_SOURCE(llm_c, softmax_forward) {
  const int rows = 37, columns = 300;
  const auto inp = floats(rows * columns, -10, 10);
  std::vector<double> expected;
  for (int r = 0; r < rows; ++r)
    for (const double v : softmax(&inp[r * columns], columns)) expected.push_back(v);
  const auto check = [&](const char* kernel, const shape& threads) {
    std::vector<float> out(rows * columns);
    launch(kernel, threads, out, inp, rows, columns);
    expect_near(kernel, out, expected, 1e-5);
  };
  check("softmax_forward_kernel1", {blocks(rows, 32), 32});
  check("softmax_forward_kernel2", {rows, 128, 128 * 4});
  check("softmax_forward_online_kernel3", {blocks(rows, 4), 128});
  check("softmax_forward_kernel4", {rows, 128, 2 * 128 / 32 * 4});
}

FOREIGN_SOURCE(llm_c, trimat,
               .kernels = {"trimul_naive", "trimul_blocks<tile_registers>", "trimul_blocks<tile_shared>"}) {
  const int t = 128, hs = 64, stride = 80;
  const float alpha = 0.125f;
  const auto q = floats(t * stride), k = floats(t * stride);
  std::vector<double> expected(t * t);
  for (int i = 0; i < t; ++i)
    for (int j = 0; j <= i; ++j)
      for (int x = 0; x < hs; ++x) expected[i * t + j] += double{alpha} * q[i * stride + x] * k[j * stride + x];
  for (const char* kernel : {"trimul_naive", "trimul_blocks<tile_registers>", "trimul_blocks<tile_shared>"}) {
    std::vector<float> p(t * t);
    const bool tiles = std::string(kernel) != "trimul_naive";
    launch(kernel, {tiles ? kernel::dimensions{2, 2} : kernel::dimensions{8, 8}, {16, 16}}, p, t, k, stride, q, stride,
           t, hs, alpha);
    for (int i = 0; i < t * t; ++i)
      if (i % t > i / t) p[i] = 0;  // values above the diagonal are unused
    expect_near(kernel, p, expected, 1e-5);
  }
}

}  // namespace troupe::foreign
