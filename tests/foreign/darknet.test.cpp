// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

namespace troupe::foreign {

namespace {

/// One thread per element, in blocks as in darknet.
shape each(int count) { return {blocks(count, 64), 64}; }

std::vector<double> softmax(const std::vector<float>& x, int first, int count, int stride, double temperature) {
  std::vector<double> out;
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += out.emplace_back(std::exp(x[first + i * stride] / temperature));
  for (double& v : out) v /= sum;
  return out;
}

}  // namespace

FOREIGN_SOURCE(darknet, activations) {
  const int n = 200;
  const auto in = floats(n, -3, 3), back = floats(n);
  const auto whole = [](double v) { return std::floor(v); };
  for (int a = 0; a < 8; ++a) {
    std::vector<double> expected, expected_delta;
    for (int i = 0; i < n; ++i) {
      const double x = in[i], up = std::exp(x);
      const double y = std::array{
          x,
          up / (1 + up),
          std::max(x, 0.0),
          std::max(x, 0.1 * x),
          x < 0 ? std::expm1(x) : x,
          std::tanh(x),
          std::clamp(x, -1.0, 1.0),
          std::fmod(whole(x), 2) == 0 ? whole(x / 2) : x - whole(x) + whole(x / 2),
      }[a];
      expected.push_back(y);
      const double slope = std::array{1.0,
                                      y - y * y,
                                      y > 0 ? 1.0 : 0.0,
                                      y > 0 ? 1.0 : 0.1,
                                      y < 0 ? y + 1 : 1.0,
                                      1 - y * y,
                                      std::abs(y) < 1 ? 1.0 : 0.0,
                                      whole(y) == y ? 0.0 : 1.0}[a];
      expected_delta.push_back(back[i] * slope);
    }
    auto x = in, delta = back;
    launch("activate_array_kernel", each(n), x, n, a);
    expect_near("activated", x, expected, 1e-6);
    launch("gradient_array_kernel", each(n), x, n, a, delta);
    expect_near("gradients", delta, expected_delta, 1e-5);
  }
}

FOREIGN_SOURCE(darknet, avgpool) {
  const int w = 5, h = 4, c = 6, b = 3, n = b * c, plane = w * h;
  const auto in = floats(n * plane), delta = floats(n);
  auto back = in;
  std::vector<double> expected(n), expected_back(in.begin(), in.end());
  for (int i = 0; i < n * plane; ++i) {
    expected[i / plane] += in[i] / double(plane);
    expected_back[i] += delta[i / plane] / double(plane);
  }
  std::vector<float> out(n);
  launch("forward_avgpool", each(n), n, w, h, c, in, out);
  expect_near("averages", out, expected, 1e-6);
  launch("backward_avgpool", each(n), n, w, h, c, back, delta);
  expect_near("deltas", back, expected_back, 1e-6);
}

FOREIGN_SOURCE(darknet, batchnorm) {
  const int batch = 3, filters = 4, spatial = 70, n = batch * filters * spatial;
  auto x = floats(n, 2, 5);
  std::vector<double> mean(filters), variance(filters), normed;
  for (int i = 0; i < n; ++i) mean[i / spatial % filters] += x[i] / double(batch * spatial);
  for (int i = 0; i < n; ++i)
    variance[i / spatial % filters] += std::pow(x[i] - mean[i / spatial % filters], 2) / (batch * spatial - 1);
  for (int i = 0; i < n; ++i) {
    const int f = i / spatial % filters;
    normed.push_back((x[i] - mean[f]) / std::sqrt(variance[f] + 1e-5));
  }
  std::vector<float> got_mean(filters), got_variance(filters);
  launch("mean_of_filters", {filters, 64}, x, batch, filters, spatial, got_mean);
  expect_near("means", got_mean, mean, 1e-6);
  launch("variance_of_filters", {filters, 64}, x, got_mean, batch, filters, spatial, got_variance);
  expect_near("variances", got_variance, variance, 1e-5);
  launch("normalize_kernel", each(n), n, x, got_mean, got_variance, batch, filters, spatial);
  expect_near("normed", x, normed, 1e-5);
}

FOREIGN_SOURCE(darknet, bias) {
  const int batch = 3, n = 5, size = 70, count = batch * n * size;
  const auto in = floats(count), biases = floats(n);
  auto added = in, scaled = in, updates = biases;
  std::vector<double> sums, products, back(biases.begin(), biases.end());
  for (int i = 0; i < count; ++i) {
    sums.push_back(double{in[i]} + biases[i / size % n]);
    products.push_back(double{in[i]} * biases[i / size % n]);
    back[i / size % n] += in[i];
  }
  launch("add_bias_kernel", each(count), added, biases, batch, n, size);
  expect_near("added", added, sums, 1e-6);
  launch("scale_bias_kernel", {{blocks(size, 64), n, batch}, 64}, scaled, biases, n, size);
  expect_near("scaled", scaled, products, 1e-6);
  launch("backward_bias_kernel", {n, 64}, updates, in, batch, n, size);
  expect_near("updates", updates, back, 1e-5);
}

FOREIGN_SOURCE(darknet, dropout) {
  const int n = 300;
  const auto in = floats(n), chance = floats(n, 0, 1);
  auto x = in;
  std::vector<float> expected, seeded;
  for (int i = 0; i < n; ++i) {
    expected.push_back(chance[i] < 0.4f ? 0 : in[i] * 2);
    std::uint32_t state = static_cast<std::uint32_t>(i + 1) * 2654435761U ^ 77U;
    for (int k = 0; k < 5; ++k) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
    }
    seeded.push_back(double(state >> 8) / (1 << 24) < 0.25 ? 0 : in[i] * 2);
  }
  launch("leave_out", each(n), x, n, chance, 0.4f, 2.0f);
  expect_equal("kept", x, expected);
  x = in;
  launch("leave_out_seeded", each(n), x, n, 77U, 0.25f, 2.0f);
  expect_equal("kept by seed", x, seeded);
}

FOREIGN_SOURCE(darknet, im2col) {
  const int channels = 3, height = 9, width = 11, size = 3, pad = 1, stride = 2;
  const int rows = (height + 2 * pad - size) / stride + 1, columns = (width + 2 * pad - size) / stride + 1;
  const auto image = floats(channels * height * width);
  const int outs = channels * size * size * rows * columns;
  std::vector<float> expected(outs), got(outs), back(image.size());
  std::vector<double> sums(image.size());
  for (int i = 0; i < outs; ++i) {
    const int k = i / columns / rows;
    const int y = i / columns % rows * stride - pad + k / size % size, x = i % columns * stride - pad + k % size;
    if (y < 0 || y >= height || x < 0 || x >= width) continue;
    const int from = (k / size / size * height + y) * width + x;
    expected[i] = image[from];
    sums[from] += image[from];
  }
  const int threads = channels * rows * columns, pixels = channels * height * width;
  launch("im2col_kernel", {1, 32}, threads, image, height, width, size, pad, stride, rows, columns, got);
  expect_equal("columns", got, expected);
  launch("col2im_kernel", {2, 64}, pixels, got, height, width, size, pad, stride, rows, columns, back);
  expect_near("image", back, sums, 1e-6);
}

FOREIGN_SOURCE(darknet, maxpool) {
  const int batch = 2, c = 3, in_h = 9, in_w = 8, size = 3, stride = 2, pad = 2;
  const int h = (in_h + pad - size) / stride + 1, w = (in_w + pad - size) / stride + 1, n = batch * c * h * w;
  const auto in = floats(batch * c * in_h * in_w), delta = floats(n);
  std::vector<float> expected, out(n), back(in.size());
  std::vector<int> places, indexes(n);
  std::vector<double> sums(in.size());
  for (int i = 0; i < n; ++i) {
    int best = -1;
    for (int k = 0; k < size * size; ++k) {
      const int y = i / w % h * stride - pad / 2 + k / size, x = i % w * stride - pad / 2 + k % size;
      if (y < 0 || x < 0 || y >= in_h || x >= in_w) continue;
      const int at = (i / w / h * in_h + y) * in_w + x;
      if (best < 0 || in[at] > in[best]) best = at;
    }
    places.push_back(best);
    expected.push_back(in[best]);
    sums[best] += delta[i];
  }
  launch("forward_maxpool", each(n), n, in_h, in_w, c, stride, size, pad, in, out, indexes);
  expect_equal("largest", out, expected);
  expect_equal("places", indexes, places);
  launch("backward_maxpool", each(n), n, delta, back, indexes);
  expect_near("deltas", back, sums, 1e-6);
}

FOREIGN_SOURCE(darknet, shortcut) {
  // From 8 x 6 x 3 to 4 x 3 x 5: every second element, and the channels that both layers have.
  const int batch = 2, w1 = 8, h1 = 6, c1 = 3, w2 = 4, h2 = 3, c2 = 5, size = batch * w2 * h2 * c1;
  const auto add = floats(batch * w1 * h1 * c1);
  auto out = floats(batch * w2 * h2 * c2);
  std::vector<double> expected(out.begin(), out.end());
  for (int b = 0; b < batch; ++b)
    for (int c = 0; c < c1; ++c)
      for (int y = 0; y < h2; ++y)
        for (int x = 0; x < w2; ++x) {
          double& to = expected[((b * c2 + c) * h2 + y) * w2 + x];
          to = 0.5 * to + 2 * add[((b * c1 + c) * h1 + 2 * y) * w1 + 2 * x];
        }
  launch("shortcut_kernel", each(size), size, w2, h2, c1, 2, 1, batch, w1, h1, c1, add, w2, h2, c2, 0.5f, 2.0f, out);
  expect_near("sums", out, expected, 1e-6);
}

FOREIGN_SOURCE(darknet, softmax) {
  const int batch = 2, groups = 3, n = 10, all = batch * groups * n;
  const auto in = floats(all, -4, 4);
  std::vector<float> out(all);
  std::vector<double> expected;
  for (int g = 0; g < batch * groups; ++g) {
    const auto one = softmax(in, g * n, n, 1, 1.5);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  launch("softmax_kernel", {1, 64}, in, n, batch, groups * n, groups, n, 1, 1.5f, out);
  expect_near("softmax", out, expected, 1e-6);

  const int spatial = 4;
  const std::vector<int> sizes{3, 5, 2}, offsets{0, 3, 8};
  const auto tree_in = floats(batch * n * spatial, -4, 4);
  std::vector<float> tree(tree_in.size());
  std::vector<double> expected_tree(tree_in.size());
  for (int b = 0; b < batch; ++b)
    for (int g = 0; g < groups; ++g)
      for (int s = 0; s < spatial; ++s) {
        const int first = (b * n + offsets[g]) * spatial + s;
        const auto one = softmax(tree_in, first, sizes[g], spatial, 1);
        for (int i = 0; i < sizes[g]; ++i) expected_tree[first + i * spatial] = one[i];
      }
  launch("softmax_tree_kernel", {1, 64}, tree_in, spatial, batch, n * spatial, 1.0f, tree, groups, sizes, offsets);
  expect_near("tree", tree, expected_tree, 1e-6);
}

FOREIGN_SOURCE(darknet, upsample) {
  const int w = 5, h = 4, c = 3, batch = 2, stride = 2, n = batch * c * h * w;
  const std::size_t outs = std::size_t{n} * stride * stride;
  auto x = floats(n), out = floats(outs);
  std::vector<double> expected(out.begin(), out.end()), back(x.begin(), x.end());
  const auto source_of = [&](std::size_t i) {
    const std::size_t column = i % (w * stride), row = i / (w * stride);
    return row / (h * stride) * h * w + row % (h * stride) / stride * w + column / stride;
  };
  for (std::size_t i = 0; i < outs; ++i) expected[i] += 0.5 * x[source_of(i)];
  launch("upsample_kernel", each(int(outs)), outs, x, w, h, c, batch, stride, 1, 0.5f, out);
  expect_near("large", out, expected, 1e-6);
  for (std::size_t i = 0; i < outs; ++i) back[source_of(i)] += 0.25 * expected[i];
  launch("upsample_kernel", each(int(outs)), outs, x, w, h, c, batch, stride, 0, 0.25f, out);
  expect_near("small", x, back, 1e-6);
}

}  // namespace troupe::foreign
