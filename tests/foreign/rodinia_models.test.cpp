// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <numbers>

#include "source.hpp"

namespace troupe::foreign {

FOREIGN_SOURCE(rodinia, lavamd) {
  struct beside {
    int x, y, z, number;
    long offset;
  };
  struct cell {
    int x, y, z, number;
    long offset;
    int others;
    beside list[26];
  };
  struct place {
    double v, x, y, z;
  };
  struct cutoff {
    double alpha;
  };
  struct space {
    int a_side;
    long cells, places;
  };
  const int side = 2, each = 20, cells = side * side * side;
  std::vector<cell> all(cells);
  for (int c = 0; c < cells; ++c) {
    all[c] = {c % side, c / side % side, c / side / side, c, long(c) * each, 0, {}};
    for (int d = 0; d < cells; ++d)
      if (d != c && (c + d) % 5 != 0) all[c].list[all[c].others++] = {0, 0, 0, d, long(d) * each};
  }
  const auto numbers = doubles(4 * cells * each, 0.1, 1), charge = doubles(cells * each, 0.1, 1);
  std::vector<place> at, sums(cells * each);
  for (int i = 0; i < cells * each; ++i)
    at.push_back({numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]});
  std::vector<double> expected, got;
  for (int i = 0; i < cells * each; ++i) {
    std::array<double, 4> sum{};
    for (int k = -1; k < all[i / each].others; ++k)
      for (int l = 0; l < each; ++l) {
        const int j = (k < 0 ? i / each : all[i / each].list[k].number) * each + l;
        const double inner = at[i].x * at[j].x + at[i].y * at[j].y + at[i].z * at[j].z;
        const double weight = charge[j] * std::exp(-0.5 * (at[i].v + at[j].v - inner));
        sum[0] += weight;
        sum[1] += 2 * weight * (at[i].x - at[j].x);
        sum[2] += 2 * weight * (at[i].y - at[j].y);
        sum[3] += 2 * weight * (at[i].z - at[j].z);
      }
    expected.insert(expected.end(), sum.begin(), sum.end());
  }
  launch("forces", {cells, 32}, cutoff{0.5}, space{side, cells, cells * each}, all, at, charge, sums);
  for (const place& s : sums) got.insert(got.end(), {s.v, s.x, s.y, s.z});
  expect_near("forces", got, expected, 1e-12);
}

FOREIGN_SOURCE(rodinia, myocyte) {
  const int cells = 5, duration = 3;
  std::vector<float> state, parameters;
  for (int c = 0; c < cells; ++c) {
    state.insert(state.end(), {-65, 0.05f, 0.6f, 0.32f});
    parameters.insert(parameters.end(), {120, 36, 0.3f, 1 + 0.1f * float(c), 10 + float(c), 20});
  }
  // Solves the same equations with small steps of fourth order.
  using vector = std::array<double, 4>;
  std::vector<double> expected;
  for (int c = 0; c < cells; ++c) {
    const float* const p = &parameters[6L * c];
    const auto slopes = [&](double t, const vector& s) {
      const double v = s[0];
      const double alpha[] = {0.1 * (v + 40.5) / (1 - std::exp(-(v + 40.5) / 10)), 0.07 * std::exp(-(v + 65) / 20),
                              0.01 * (v + 55.5) / (1 - std::exp(-(v + 55.5) / 10))};
      const double beta[] = {4 * std::exp(-(v + 65) / 18), 1 / (1 + std::exp(-(v + 35) / 10)),
                             0.125 * std::exp(-(v + 65) / 80)};
      vector out{};
      out[0] = ((std::fmod(t, p[5]) <= 1 ? p[4] : 0) - p[0] * std::pow(s[1], 3) * s[2] * (v - 50) -
                p[1] * std::pow(s[3], 4) * (v + 77) - p[2] * (v + 54.4)) /
               p[3];
      for (int i = 0; i < 3; ++i) out[i + 1] = alpha[i] * (1 - s[i + 1]) - beta[i] * s[i + 1];
      return out;
    };
    vector s{state[4L * c], state[4L * c + 1], state[4L * c + 2], state[4L * c + 3]};
    const int steps = 1000 * duration;
    for (int i = 0; i < steps; ++i) {
      const double h = double(duration) / steps, t = i * h;
      const auto moved = [&](const vector& k, double by) {
        vector out = s;
        for (int j = 0; j < 4; ++j) out[j] += by * k[j];
        return out;
      };
      // The stimulus ends between two steps, not within one.
      const double begin = std::nextafter(t, t < 1 ? 0 : 10), middle = t + h / 2, end = t + h <= 1 ? 1.0 : t + h;
      const vector a = slopes(begin, s), b = slopes(middle, moved(a, h / 2)), d = slopes(middle, moved(b, h / 2)),
                   e = slopes(end, moved(d, h));
      for (int j = 0; j < 4; ++j) s[j] += h * (a[j] + 2 * b[j] + 2 * d[j] + e[j]) / 6;
    }
    expected.insert(expected.end(), s.begin(), s.end());
  }
  launch("solve_cells", {1, 32}, cells, duration, 1e-4f, state, parameters);
  expect_near("states", state, expected, 5e-3);
}

FOREIGN_SOURCE(rodinia, particlefilter) {
  const int n = 60, rows = 40, cols = 40, ones = 9;
  const auto image = integers<unsigned char>(rows * cols, 0, 255);
  std::vector<int> around;
  for (int i = 0; i < ones; ++i) around.insert(around.end(), {i / 3 - 1, i % 3 - 1});
  auto seed = integers(n, 1, 1'000'000);
  std::vector<double> x(n, 20), y(n, 20), weights(n, 1.0 / n), sums(1), cdf(n), u(n), new_x(n), new_y(n);
  auto expected_x = x, expected_y = y, expected_weights = weights;
  const auto expected_seed = [&] {
    auto s = seed;
    const auto uniform = [&](int i) {
      s[i] = static_cast<int>(1103515245U * static_cast<unsigned>(s[i]) + 12345) % INT_MAX;
      return std::abs(s[i] / double(INT_MAX));
    };
    const auto normal = [&](int i) {
      const double radius = std::sqrt(-2 * std::log(uniform(i)));
      return radius * std::cos(2 * std::numbers::pi * uniform(i));
    };
    const auto whole = [](double v) { return v - int(v) < .5 ? int(v) : int(v) + 1; };
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      expected_x[i] += 1 + 2 * normal(i);
      expected_y[i] += -2 + normal(i);
      double likelihood = 0;
      for (int k = 0; k < ones; ++k) {
        const int at =
            std::abs((whole(expected_x[i]) + around[2 * k + 1]) * cols + whole(expected_y[i]) + around[2 * k]);
        const int grey = image[at < rows * cols ? at : 0];
        likelihood += (std::pow(grey - 100, 2) - std::pow(grey - 228, 2)) / 50;
      }
      expected_weights[i] *= std::exp(likelihood / ones / 50);
      sum += expected_weights[i];
    }
    for (double& w : expected_weights) w /= sum;
    uniform(0);
    return s;
  }();
  launch("likelihood_kernel", {1, 64}, x, y, weights, sums, around, image, seed, n, ones, rows, cols);
  expect_near("x", x, expected_x, 1e-12);
  expect_near("y", y, expected_y, 1e-12);
  launch("normalize_kernel", {1, 64}, weights, n, sums, 1, cdf, u, seed);
  expect_near("weights", weights, expected_weights, 1e-12);
  expect_equal("seeds", seed, expected_seed);
  launch("find_index_kernel", {1, 64}, x, y, cdf, u, new_x, new_y, weights, n);
  std::vector<double> drawn_x, drawn_y;
  for (int i = 0; i < n; ++i) {
    double looked = seed[0] / double(INT_MAX), sum = 0;
    looked = std::abs(looked) / n + double(i) / n;
    int j = 0;
    while (j < n - 1 && (sum += expected_weights[j]) < looked) ++j;
    drawn_x.push_back(expected_x[j]);
    drawn_y.push_back(expected_y[j]);
  }
  expect_near("drawn x", new_x, drawn_x, 1e-12);
  expect_near("drawn y", new_y, drawn_y, 1e-12);
}

}  // namespace troupe::foreign
