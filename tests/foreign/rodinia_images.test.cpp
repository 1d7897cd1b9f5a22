// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "source.hpp"

namespace troupe::foreign {

FOREIGN_SOURCE(rodinia, dwt2d,
               .kernels = {"dwt_cuda::fdwtKernel<dwt_cuda::Lift53, 32>",
                           "dwt_cuda::fdwtKernel<dwt_cuda::Lift97, 32>"}) {
  const int lines = 7, count = 75;
  // Lifts odd and even elements alternately, mirrored at the ends. Then the low frequencies move to the front.
  const auto transformed = [](auto line, auto... lifts) {
    const int n = int(line.size());
    int parity = 1;
    const auto step = [&](auto lift) {
      for (int i = parity; i < n; i += 2) line[i] += lift(line[std::abs(i - 1)], line[i + 1 < n ? i + 1 : n - 2]);
      parity = 1 - parity;
    };
    (step(lifts), ...);
    auto out = line;
    for (int i = 0; i < n; ++i) out[i % 2 == 0 ? i / 2 : (n + 1) / 2 + i / 2] = line[i];
    return out;
  };
  const auto pixels = integers(lines * count, -128, 127);
  auto coefficients = pixels, expected = pixels;
  for (int l = 0; l < lines; ++l) {
    const auto line = transformed(
        std::vector<int>(pixels.begin() + l * count, pixels.begin() + (l + 1) * count),
        [](int a, int b) { return -((a + b) >> 1); }, [](int a, int b) { return (a + b + 2) >> 2; });
    std::copy(line.begin(), line.end(), expected.begin() + l * count);
  }
  launch("dwt_cuda::fdwtKernel<dwt_cuda::Lift53, 32>", {{blocks(count, 32), lines}, 16}, pixels, coefficients, count, 1,
         count);
  expect_equal("5/3", coefficients, expected);

  // In this kernel, the lines are columns.
  const auto greys = floats(lines * count);
  auto waves = greys;
  std::vector<double> expected_waves(lines * count);
  for (int l = 0; l < lines; ++l) {
    std::vector<double> line;
    for (int i = 0; i < count; ++i) line.push_back(greys[i * lines + l]);
    const auto by = [](double factor) { return [factor](double a, double b) { return factor * (a + b); }; };
    line = transformed(line, by(-1.586134342), by(-0.05298011854), by(0.8829110762), by(0.4435068522));
    for (int i = 0; i < count; ++i) expected_waves[i * lines + l] = line[i];
  }
  launch("dwt_cuda::fdwtKernel<dwt_cuda::Lift97, 32>", {{blocks(count, 32), lines}, 24}, greys, waves, count, lines, 1);
  expect_near("9/7", waves, expected_waves, 1e-5);
}

FOREIGN_SOURCE(rodinia, heartwall, .globals = {"d_common", "d_unique"}) {
  struct common {
    int rows, cols;
    float weight;
  };
  struct point {
    int number, row, col;
  };
  const int rows = 60, cols = 70, points = 12, side = 8, reach = 4;
  const float weight = 0.001f;
  const auto patterns = floats(points * side * side, 0, 1);
  auto frame = floats(rows * cols, 0, 1);
  std::vector<point> of(points);
  std::vector<int> down, right;
  for (int p = 0; p < points; ++p) {
    of[p] = {p, 6 + p % 3 * 18, 5 + p / 3 * 16};  // each pattern is slightly displaced
    down.push_back(integers(1, -reach, reach)[0]);
    right.push_back(integers(1, -reach, reach)[0]);
    for (int i = 0; i < side * side; ++i)
      frame[(of[p].row + down[p] + i / side) * cols + of[p].col + right[p] + i % side] =
          0.1f + 0.5f * patterns[p * side * side + i];
  }
  std::vector<double> best;
  for (int p = 0; p < points; ++p) best.push_back(1 - weight * (down[p] * down[p] + right[p] * right[p]));
  write_global("d_common", std::vector<common>{{rows, cols, weight}});
  write_global("d_unique", of);
  std::vector<int> moved_row(points), moved_col(points);
  std::vector<float> score(points);
  launch("track", {points, 96}, frame, patterns, moved_row, moved_col, score);
  expect_equal("rows", moved_row, down);
  expect_equal("columns", moved_col, right);
  expect_near("scores", score, best, 1e-5);
}

FOREIGN_SOURCE(rodinia, leukocyte, .globals = {"sines", "cosines", "ring_x", "ring_y", "c_shape"}) {
  const int rows = 40, cols = 33, border = 6, on_ring = 24, rings = 3, side = 5;
  const auto grad_x = floats(rows * cols), grad_y = floats(rows * cols), shape_weights = floats(side * side);
  std::vector<float> sines, cosines, mask;
  std::vector<int> x, y;
  for (int i = 0; i < on_ring; ++i) {
    const double angle = 2 * std::numbers::pi * i / on_ring;
    sines.push_back(float(std::sin(angle)));
    cosines.push_back(float(std::cos(angle)));
  }
  for (int i = 0; i < rings * on_ring; ++i) {
    x.push_back(int(std::lround((2 + 2 * (i / on_ring)) * cosines[i % on_ring])));
    y.push_back(int(std::lround((2 + 2 * (i / on_ring)) * sines[i % on_ring])));
  }
  for (const float w : shape_weights) mask.push_back(w > 0 ? 1 : 0);
  std::vector<double> scores(rows * cols), dilated(rows * cols);
  for (int j = border; j < cols - border; ++j)
    for (int i = border; i < rows - border; ++i)
      for (int k = 0; k < rings; ++k) {
        double sum = 0, squares = 0;
        for (int n = 0; n < on_ring; ++n) {
          const int at = (j + y[k * on_ring + n]) * rows + i + x[k * on_ring + n];
          const double p = grad_x[at] * cosines[n] + grad_y[at] * sines[n];
          sum += p;
          squares += p * p;
        }
        const double variance = (squares - sum * sum / on_ring) / (on_ring - 1);
        double& score = scores[j * rows + i];
        score = std::max(score, sum / on_ring * sum / on_ring / variance);
      }
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < side * side; ++k) {
        const int row = i + k / side - 2, col = j + k % side - 2;
        if (mask[k] == 0 || row < 0 || row >= rows || col < 0 || col >= cols) continue;
        dilated[j * rows + i] = std::max(dilated[j * rows + i], scores[col * rows + row]);
      }
  write_global("sines", sines);
  write_global("cosines", cosines);
  write_global("ring_x", x);
  write_global("ring_y", y);
  write_global("c_shape", mask);
  std::vector<float> score(rows * cols), result(rows * cols);
  launch("score_of_rings", {blocks(rows * cols, 128), 128}, grad_x, grad_y, score, rows, cols);
  expect_near("scores", score, scores, 1e-5);
  launch("dilate", {blocks(rows * cols, 128), 128}, rows, cols, score, result);
  expect_near("dilated", result, dilated, 1e-5);
}

FOREIGN_SOURCE(rodinia, srad) {
  const int rows = 30, cols = 23, n = rows * cols, threads = 64, parts = blocks(n, threads);
  const float lambda = 0.5f, q0 = 0.05f;
  auto image = floats(n, 1, 2);
  std::vector<double> sum(parts), squares(parts), next(image.begin(), image.end()), c(n);
  for (int i = 0; i < n; ++i) {
    sum[i / threads] += image[i];
    squares[i / threads] += double{image[i]} * image[i];
  }
  std::vector<int> north, south, west, east;
  for (int i = 0; i < rows; ++i) {
    north.push_back(std::max(i - 1, 0));
    south.push_back(std::min(i + 1, rows - 1));
  }
  for (int j = 0; j < cols; ++j) {
    west.push_back(std::max(j - 1, 0));
    east.push_back(std::min(j + 1, cols - 1));
  }
  const auto differences = [&](int row, int col) {
    const double me = image[col * rows + row];
    return std::array{image[col * rows + north[row]] - me, image[col * rows + south[row]] - me,
                      image[west[col] * rows + row] - me, image[east[col] * rows + row] - me};
  };
  for (int i = 0; i < n; ++i) {
    const auto d = differences(i % rows, i / rows);
    double g2 = 0, laplace = 0;
    for (const double v : d) {
      g2 += v * v / (double{image[i]} * image[i]);
      laplace += v / image[i];
    }
    const double q = (0.5 * g2 - laplace * laplace / 16) / std::pow(1 + laplace / 4, 2);
    c[i] = std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0, 1.0);
  }
  for (int i = 0; i < n; ++i) {
    const int row = i % rows, col = i / rows;
    const auto d = differences(row, col);
    next[i] +=
        0.25 * lambda * (c[i] * (d[0] + d[2]) + c[col * rows + south[row]] * d[1] + c[east[col] * rows + row] * d[3]);
  }
  std::vector<float> got_sum(parts), got_squares(parts), dn(n), ds(n), de(n), dw(n), got_c(n);
  launch("sums_of", {parts, threads}, image, long(n), got_sum, got_squares);
  expect_near("sums", got_sum, sum, 1e-6);
  expect_near("squares", got_squares, squares, 1e-6);
  launch("coefficients", {parts, threads}, lambda, rows, cols, long(n), north, south, east, west, dn, ds, de, dw, q0,
         got_c, image);
  expect_near("coefficients", got_c, c, 1e-4);
  launch("diffuse", {parts, threads}, lambda, rows, cols, long(n), north, south, east, west, dn, ds, de, dw, got_c,
         image);
  expect_near("image", image, next, 1e-5);
}

}  // namespace troupe::foreign
