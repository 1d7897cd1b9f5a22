// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

namespace troupe::foreign {

namespace {

/// A matrix that elimination solves without exchanging rows.
std::vector<float> dominant(int n, std::vector<float> a) {
  for (int i = 0; i < n; ++i) a[i * n + i] += static_cast<float>(n);
  return a;
}

}  // namespace

FOREIGN_SOURCE(rodinia, backprop) {
  const int in = 64, hidden = 16;
  const auto units = floats(in + 1), delta = floats(hidden + 1);
  auto weights = floats((in + 1) * (hidden + 1)), change = floats((in + 1) * (hidden + 1));
  std::vector<double> sums(in / 16 * hidden);
  for (int i = 0; i < in; ++i)
    for (int h = 0; h < hidden; ++h)
      sums[i / 16 * hidden + h] += double{units[i + 1]} * weights[(i + 1) * (hidden + 1) + h + 1];
  std::vector<double> new_weights(weights.begin(), weights.end()), new_change(change.begin(), change.end());
  for (int i = 0; i <= in; ++i)
    for (int h = 1; h <= hidden; ++h) {
      const int at = i * (hidden + 1) + h;
      new_change[at] = 0.3 * delta[h] * (i == 0 ? 1.0 : units[i]) + 0.3 * change[at];
      new_weights[at] += new_change[at];
    }
  std::vector<float> partial(in / 16 * hidden);
  launch("layer_forward", {{1, in / 16}, {16, 16}}, units, weights, partial, hidden);
  expect_near("partial sums", partial, sums, 1e-5);
  launch("adjust_weights", {{1, in / 16}, {16, 16}}, delta, units, weights, change, hidden);
  expect_near("changes", change, new_change, 1e-6);
  expect_near("weights", weights, new_weights, 1e-6);
}

FOREIGN_SOURCE(rodinia, cfd, .globals = {"far_variables"}) {
  const int n = 192, faces = 4, wall = -1, far_away = -2;
  const std::vector<float> far{1, 0.3f, 0.1f, 0, 2.6f};
  std::vector<float> variables(5 * n);
  const auto density = floats(n, 0.8, 1.2), energy = floats(n, 2, 3), momenta = floats(3 * n, -0.4, 0.4);
  std::copy(density.begin(), density.end(), variables.begin());
  std::copy(momenta.begin(), momenta.end(), variables.begin() + n);
  std::copy(energy.begin(), energy.end(), variables.begin() + 4L * n);
  const auto areas = floats(n, 0.5, 2), normals = floats(3 * faces * (n + faces));
  auto neighbours = integers(faces * n, far_away, n - 1);
  for (int i = 0; i < n; i += 3) neighbours[i] = i % 2 == 0 ? wall : far_away;

  struct gas {
    double v[5], speed, pressure, sound;
    gas(const float* from, int stride) {
      for (int k = 0; k < 5; ++k) v[k] = from[k * stride];
      const double squares = v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
      speed = std::sqrt(squares) / v[0];
      pressure = 0.4 * (v[4] - squares / v[0] / 2);
      sound = std::sqrt(1.4 * pressure / v[0]);
    }
  };
  std::vector<double> expected_factors(n), expected(5 * n);
  for (int e = 0; e < n; ++e) {
    const gas here(&variables[e], n);
    expected_factors[e] = 0.5 / (std::sqrt(areas[e]) * (here.speed + here.sound));
    for (int f = 0; f < faces; ++f) {
      const int other = neighbours[e + f * n];
      double normal[3], length = 0;
      for (int k = 0; k < 3; ++k) {
        normal[k] = normals[e + (f + k * faces) * n];
        length += normal[k] * normal[k];
      }
      length = std::sqrt(length);
      if (other == wall) {
        for (int k = 0; k < 3; ++k) expected[e + (k + 1) * n] += normal[k] * here.pressure;
        continue;
      }
      const gas there = other == far_away ? gas(far.data(), 1) : gas(&variables[other], n);
      const double waves = 0.1 * length * (here.speed + there.speed + here.sound + there.sound);
      for (int k = 0; k < 5; ++k) {
        for (const gas& g : {here, there}) {
          const double through = (g.v[1] * normal[0] + g.v[2] * normal[1] + g.v[3] * normal[2]) / g.v[0];
          double flow = through * g.v[k];
          if (k == 4) flow += through * g.pressure;
          if (k > 0 && k < 4) flow += g.pressure * normal[k - 1];
          expected[e + k * n] += flow / 2;
        }
        if (other >= 0) expected[e + k * n] -= waves * (here.v[k] - there.v[k]);
      }
    }
  }
  std::vector<float> factors(n), fluxes(5 * n);
  write_global("far_variables", far);
  launch("step_factors", {n / 64, 64}, n, variables, areas, factors);
  expect_near("factors", factors, expected_factors, 1e-5);
  launch("fluxes_of", {n / 64, 64}, n, neighbours, normals, variables, fluxes);
  expect_near("fluxes", fluxes, expected, 1e-5);
}

FOREIGN_SOURCE(rodinia, gaussian) {
  const int n = 24;
  auto a = dominant(n, floats(n * n)), b = floats(n);
  const auto a0 = a, b0 = b;
  std::vector<float> m(n * n);
  for (int t = 0; t < n - 1; ++t) {
    launch("Multipliers", {blocks(n, 64), 64}, m, a, n, t);
    launch("Eliminate", {{blocks(n, 4), blocks(n, 4)}, {4, 4}}, m, a, b, n, n - t, t);
  }
  // The solution of the remaining equations also solves the first ones.
  std::vector<double> x(n), left(n);
  for (int i = n - 1; i >= 0; --i) {
    x[i] = b[i];
    for (int j = i + 1; j < n; ++j) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  for (int i = 0; i < n * n; ++i) left[i / n] += a0[i] * x[i % n];
  expect_near("A x", left, b0, 1e-5);
  for (int i = 0; i < n * n; ++i)
    if (i / n > i % n) expect_near("below the diagonal", 1.0 + a[i], 1.0, 1e-5);
}

FOREIGN_SOURCE(rodinia, hotspot) {
  const int rows = 40, columns = 50, steps = 2;
  const float cap = 0.3f, rx = 0.2f, ry = 0.3f, rz = 0.05f;
  const auto power = floats(rows * columns, 0, 1), heat = floats(rows * columns, 70, 90);
  std::vector<double> now(heat.begin(), heat.end()), next = now;
  for (int s = 0; s < steps; ++s, now = next)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        const auto at = [&](int j, int i) {
          return now[std::clamp(j, 0, rows - 1) * columns + std::clamp(i, 0, columns - 1)];
        };
        const double me = at(y, x);
        next[y * columns + x] = me + cap * (power[y * columns + x] + (at(y + 1, x) + at(y - 1, x) - 2 * me) * ry +
                                            (at(y, x + 1) + at(y, x - 1) - 2 * me) * rx + (80 - me) * rz);
      }
  std::vector<float> out(rows * columns);
  launch("heat_steps", {{blocks(columns, 12), blocks(rows, 12)}, {16, 16}}, steps, power, heat, out, columns, rows, cap,
         rx, ry, rz);
  expect_near("heat", out, now, 1e-6);
}

FOREIGN_SOURCE(rodinia, hotspot3d) {
  const int nx = 64, ny = 8, nz = 5;
  const float ce = 0.1f, cw = 0.11f, cn = 0.12f, cs = 0.13f, ct = 0.02f, cb = 0.03f, cc = 0.49f, cap = 0.5f;
  const auto power = floats(nx * ny * nz, 0, 1), in = floats(nx * ny * nz, 70, 90);
  std::vector<double> expected;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const auto at = [&](int i, int j, int k) {
          return double{in[(std::clamp(k, 0, nz - 1) * ny + std::clamp(j, 0, ny - 1)) * nx + std::clamp(i, 0, nx - 1)]};
        };
        expected.push_back(cc * at(x, y, z) + ce * at(x + 1, y, z) + cw * at(x - 1, y, z) + cn * at(x, y - 1, z) +
                           cs * at(x, y + 1, z) + ct * at(x, y, z + 1) + cb * at(x, y, z - 1) + ct * 80 +
                           cap * power[(z * ny + y) * nx + x]);
      }
  std::vector<float> out(nx * ny * nz);
  launch("heat3D", {{nx / 32, ny / 4}, {32, 4}}, power, in, out, cap, nx, ny, nz, ce, cw, cn, cs, ct, cb, cc);
  expect_near("heat", out, expected, 1e-6);
}

FOREIGN_SOURCE(rodinia, lud) {
  const int n = 64, tile = 16;
  const auto a = dominant(n, floats(n * n));
  auto m = a;
  for (int offset = 0; offset < n; offset += tile) {
    launch("tile_diagonal", {1, tile}, m, n, offset);
    const int others = (n - offset) / tile - 1;
    if (others == 0) continue;
    launch("tile_perimeter", {others, 2 * tile}, m, n, offset);
    launch("tile_internal", {{others, others}, {tile, tile}}, m, n, offset);
  }
  std::vector<double> product(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k <= std::min(i, j); ++k) product[i * n + j] += (k == i ? 1.0 : m[i * n + k]) * m[k * n + j];
  expect_near("L U", product, a, 1e-6);
}

}  // namespace troupe::foreign
