// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

namespace troupe::foreign {

FOREIGN_SOURCE(samples, bilateral_filter, .globals = {"byDistance"}) {
  const int width = 37, height = 21, radius = 3, n = width * height;
  const float d = 0.2f, amount = 1.5f;
  const auto image = integers<unsigned>(n, 0, 0xffffffff);
  std::vector<float> weights(64);
  for (int i = 0; i <= 2 * radius; ++i) weights[i] = std::exp(-std::pow(i - radius, 2) / 8.0f);
  write_global("byDistance", weights);
  const auto channel = [](unsigned word, int c) { return (word >> 8 * c & 255) / 255.0; };
  // Words differ if a color is almost halfway between two steps, so each channel is compared.
  const auto channels = [&](const std::vector<unsigned>& words) {
    std::vector<double> out;
    for (const unsigned w : words)
      for (int c = 0; c < 4; ++c) out.push_back(channel(w, c));
    return out;
  };
  std::vector<double> expected;
  for (int at = 0; at < n; ++at) {
    double sum[4] = {}, all = 0;
    for (int i = -radius; i <= radius; ++i)
      for (int j = -radius; j <= radius; ++j) {
        const unsigned there =
            image[std::clamp(at / width + i, 0, height - 1) * width + std::clamp(at % width + j, 0, width - 1)];
        double off = 0;
        for (int c = 0; c < 3; ++c) off += std::pow(channel(there, c) - channel(image[at], c), 2);
        const double weight = double{weights[i + radius]} * weights[j + radius] * std::exp(-off / (2 * d * d));
        for (int c = 0; c < 4; ++c) sum[c] += weight * channel(there, c);
        all += weight;
      }
    for (const double s : sum) expected.push_back(s / all);
  }
  std::vector<unsigned> smooth(n), sharp(n);
  launch("bilateral", {{blocks(width, 16), blocks(height, 8)}, {16, 8}}, smooth, image, width, height, d, radius);
  expect_near("smooth", channels(smooth), expected, 1.2 / 255);

  std::vector<double> sharper;
  for (int i = 0; i < 4 * n; ++i) {
    const double a = channel(smooth[i / 4], i % 4), b = channel(image[i / 4], i % 4);
    sharper.push_back(std::clamp(a + amount * (b - a), 0.0, 1.0));
  }
  launch("sharpen", {blocks(n, 64), 64}, sharp, smooth, image, n, amount);
  expect_near("sharp", channels(sharp), sharper, 1.2 / 255);
}

FOREIGN_SOURCE(samples, convolution_separable, .globals = {"taps"}) {
  const int width = 128, height = 64, radius = 8;
  const auto image = floats(width * height), taps = floats(2 * radius + 1);
  write_global("taps", taps);
  std::vector<double> rows(width * height), both(width * height);
  for (int i = 0; i < width * height; ++i)
    for (int j = -radius; j <= radius; ++j)
      if (const int x = i % width + j; x >= 0 && x < width) rows[i] += double{taps[radius - j]} * image[i + j];
  for (int i = 0; i < width * height; ++i)
    for (int j = -radius; j <= radius; ++j)
      if (const int y = i / width + j; y >= 0 && y < height) both[i] += double{taps[radius - j]} * rows[i + j * width];
  std::vector<float> halfway(width * height), out(width * height);
  launch("filterRows", {{width / 64, height / 4}, {16, 4}}, halfway, image, width, height, width);
  expect_near("rows", halfway, rows, 1e-5);
  launch("filterColumns", {{width / 16, height / 32}, {16, 8}}, out, halfway, width, height, width);
  expect_near("rows and columns", out, both, 1e-5);
}

FOREIGN_SOURCE(samples, dct8x8, .globals = {"waves", "steps"}) {
  const int width = 32, height = 16;
  const auto image = floats(width * height, 0, 255);
  std::vector<float> waves(64);
  for (int i = 0; i < 64; ++i)
    waves[i] = static_cast<float>((i < 8 ? std::sqrt(0.125) : 0.5) * std::cos(M_PI * (2 * (i % 8) + 1) * (i / 8) / 16));
  write_global("waves", waves);
  std::vector<double> expected(width * height);
  for (int i = 0; i < width * height; ++i) {
    const int u = i % 8, v = i / width % 8, corner = i / width / 8 * 8 * width + i % width / 8 * 8;
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x)
        expected[i] += double{waves[u * 8 + x]} * waves[v * 8 + y] * (image[corner + y * width + x] - 128);
  }
  const shape threads{{width / 8, height / 8}, {8, 8}};
  std::vector<float> coefficients(width * height), back(width * height);
  launch("forwardDCT", threads, coefficients, image, width);
  expect_near("coefficients", coefficients, expected, 1e-6);
  launch("inverseDCT", threads, back, coefficients, width);
  expect_near("the image again", back, image, 1e-6);

  const auto steps = read_global<short>("steps", 64);
  std::vector<short> rounded(coefficients.begin(), coefficients.end()), quantised;
  for (int i = 0; i < width * height; ++i) {
    const int step = steps[i / width % 8 * 8 + i % 8];
    quantised.push_back(static_cast<short>(std::copysign((std::abs(rounded[i]) + step / 2) / step * step, rounded[i])));
  }
  launch("quantise", threads, rounded, width);
  expect_equal("quantised", rounded, quantised);
}

// Right if thread 0 takes longer for a pixel than the others for reading which tile is theirs. On the host, where it
// runs first, the launch fails: see README.md.
FOREIGN_SOURCE(samples, mandelbrot, .kernels = {"paint<float, false>", "paint<double, true>"},
               .globals = {"nextTile"}) {
  struct alignas(4) uchar4 {
    unsigned char x, y, z, w;
  };
  const int width = 50, height = 40, steps = 60, tiles_x = blocks(width, 16), tiles = tiles_x * blocks(height, 16);
  const auto check = [&](const char* kernel, auto left, bool julia, int pass, uchar4 before) {
    using real = decltype(left);
    const real top = real(-1.2), jx = real(-0.7), jy = real(0.27), pixel = real(0.06);
    std::vector<uchar4> image(width * height, before);
    write_global("nextTile", std::vector{0u});
    launch(kernel, {3, {16, 16}}, image, width, height, steps, left, top, jx, jy, pixel, uchar4{3, 5, 7, 0}, pass,
           tiles_x, tiles);
    // With other arithmetic, a few pixels may escape one step later, but not many.
    int differing = 0;
    for (int i = 0; i < width * height; ++i) {
      double x = left + i % width * pixel, y = top + i / width * pixel;
      const double cx = julia ? jx : x, cy = julia ? jy : y;
      int taken = 0;
      for (int s = 1; s < steps && taken == 0; ++s) {
        if (x * x + y * y >= 4) taken = s;
        const double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
      }
      const auto mixed = [&](int old, int colour) {
        return (old * pass + (taken * colour & 255) + (pass + 1) / 2) / (pass + 1);
      };
      const uchar4 p = image[i];
      differing += p.x != mixed(before.x, 3) || p.y != mixed(before.y, 5) || p.z != mixed(before.z, 7);
    }
    if (differing > width * height / 100)
      throw failure{.wrong = true,
                    .text = std::string(kernel) + " differs in " + std::to_string(differing) + " pixels"};
  };
  check("paint<float, false>", -2.2f, false, 0, {});
  check("paint<double, true>", -1.5, true, 2, {10, 20, 30, 255});
}

FOREIGN_SOURCE(samples, stencil_march, .globals = {"weights"}) {
  const int nx = 40, ny = 20, nz = 12, r = 4, row = nx + 2 * r, layer = row * (ny + 2 * r), size = layer * (nz + 2 * r);
  const auto input = floats(size), weights = floats(r + 1);
  write_global("weights", weights);
  std::vector<double> expected(size);
  for (int z = r; z < nz + r; ++z)
    for (int y = r; y < ny + r; ++y)
      for (int x = r; x < nx + r; ++x) {
        const int at = z * layer + y * row + x;
        expected[at] = double{weights[0]} * input[at];
        for (int i = 1; i <= r; ++i)
          for (const int step : {1, row, layer})
            expected[at] += double{weights[i]} * (double{input[at - i * step]} + input[at + i * step]);
      }
  std::vector<float> output(size);
  launch("march", {{blocks(nx, 32), blocks(ny, 8)}, {32, 8}}, output, input, nx, ny, nz);
  expect_near("output", output, expected, 1e-6);
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
