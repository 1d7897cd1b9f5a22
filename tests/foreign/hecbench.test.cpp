// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <numbers>
#include <numeric>

#include "source.hpp"

namespace troupe::foreign {

namespace {

/// The random numbers of Park and Miller.
struct minimal_standard {
  std::int64_t seed;
  double operator()() {
    seed = seed * 16807 % 2147483647;
    return double(seed) / 2147483647;
  }
};

}  // namespace

FOREIGN_SOURCE(hecbench, bspline,
               .kernels = {"values_gradients_laplacians<float>", "values_gradients_laplacians<double>"}) {
  struct triple {
    int x, y, z;
  };
  const triple grid{5, 4, 6};
  const int splines = 40, walkers = 6, sizes[] = {grid.x, grid.y, grid.z};
  // The splines by the recursion of B-splines: degree 3 at whole numbers, and differences of lower degrees.
  const auto spline = [](auto&& self, int degree, double t) -> double {
    if (degree == 0) return t >= 0 && t < 1 ? 1 : 0;
    return (t * self(self, degree - 1, t) + (degree + 1 - t) * self(self, degree - 1, t - 1)) / degree;
  };
  const auto derived = [&](int order, double t) {
    const auto b = [&](int degree, double at) { return spline(spline, degree, at); };
    if (order == 0) return b(3, t);
    return order == 1 ? b(2, t) - b(2, t - 1) : b(1, t) - 2 * b(1, t - 1) + b(1, t - 2);
  };
  const auto run = [&](const char* kernel, auto coefficients, auto places, double tolerance) {
    std::vector<double> v, g, l;
    for (int w = 0; w < walkers; ++w) {
      double weight[3][3][4];  // by axis, order, place
      int cell[3];
      for (int d = 0; d < 3; ++d) {
        const double u = double(places[3 * w + d]) * sizes[d];
        cell[d] = int(u);
        for (int order = 0; order < 3; ++order)
          for (int i = 0; i < 4; ++i) weight[d][order][i] = derived(order, u - cell[d] + 3 - i);
      }
      for (int s = 0; s < splines; ++s) {
        const auto sum = [&](int ox, int oy, int oz) {
          double out = 0;
          for (int i = 0; i < 64; ++i) {
            const int x = i / 16, y = i / 4 % 4, z = i % 4;
            out +=
                weight[0][ox][x] * weight[1][oy][y] * weight[2][oz][z] *
                coefficients[(((cell[0] + x) * (grid.y + 3) + cell[1] + y) * (grid.z + 3) + cell[2] + z) * splines + s];
          }
          return out;
        };
        v.push_back(sum(0, 0, 0));
        g.insert(g.end(), {sum(1, 0, 0), sum(0, 1, 0), sum(0, 0, 1)});
        l.push_back(sum(2, 0, 0) + sum(0, 2, 0) + sum(0, 0, 2));
      }
    }
    auto vals = coefficients, grads = coefficients, lapls = coefficients;
    vals.resize(v.size());
    grads.resize(g.size());
    lapls.resize(l.size());
    launch(kernel, {walkers, 32}, coefficients, grid, places, splines, vals, grads, lapls);
    expect_near("values", vals, v, tolerance);
    expect_near("gradients", grads, g, tolerance);
    expect_near("laplacians", lapls, l, tolerance);
  };
  const int count = (grid.x + 3) * (grid.y + 3) * (grid.z + 3) * splines;
  run("values_gradients_laplacians<float>", floats(count), floats(3 * walkers, 0, 0.99), 1e-5);
  run("values_gradients_laplacians<double>", doubles(count), doubles(3 * walkers, 0, 0.99), 1e-12);
}

FOREIGN_SOURCE(hecbench, chi2) {
  const unsigned rows = 90, cols = 20;
  const int cases = 40, controls = 50;
  auto data = integers<unsigned char>(rows * cols, '0', '2');
  for (unsigned i = 0; i < data.size(); i += 17) data[i] = '-';
  std::vector<double> expected;
  for (unsigned c = 0; c < cols; ++c) {
    double seen[2][3] = {}, all = 0, chi = 0;
    for (unsigned r = 0; r < rows; ++r)
      if (data[r * cols + c] != '-') {
        ++seen[r < cases ? 0 : 1][data[r * cols + c] - '0'];
        ++all;
      }
    for (int row : {0, 1})
      for (int kind : {0, 1, 2}) {
        const double wanted = (seen[row][0] + seen[row][1] + seen[row][2]) * (seen[0][kind] + seen[1][kind]) / all;
        if (wanted > 0) chi += std::pow(seen[row][kind] - wanted, 2) / wanted;
      }
    expected.push_back(chi);
  }
  std::vector<float> results(cols);
  launch("chi_squared", {int(cols), 64}, rows, cols, cases, controls, data, results);
  expect_near("chi squared", results, expected, 1e-5);
}

FOREIGN_SOURCE(hecbench, feynman_kac) {
  struct ellipse {
    double a, b;
  };
  const ellipse e{2, 1};
  const double step = 0.2871, dt = step * step / 2;
  const int walks = 12, side = 9;
  std::vector<double> expected(side * side);
  double expected_squares = 0;
  int expected_inside = 0;
  const auto level = [&](double x, double y) { return x * x / (e.a * e.a) + y * y / (e.b * e.b); };
  const auto potential = [&](double x, double y) {
    return 2 * (x * x / std::pow(e.a, 4) + y * y / std::pow(e.b, 4)) + 1 / (e.a * e.a) + 1 / (e.b * e.b);
  };
  for (int j = 0; j < side; ++j)
    for (int i = 0; i < side; ++i) {
      const double x0 = e.a * (2 * i - side + 1) / (side - 1), y0 = e.b * (2 * j - side + 1) / (side - 1);
      if (level(x0, y0) >= 1) continue;
      ++expected_inside;
      minimal_standard chance{1000 * j + i + 1};
      for (int k = 0; k < walks; ++k) {
        double x = x0, y = y0, weight = 1;
        while (level(x, y) < 1) {
          const double before = potential(x, y);
          const bool along_x = chance() < 0.5, back = chance() < 0.5;
          (along_x ? x : y) += back ? -step : step;
          const double guess = weight * (1 - dt * before);
          weight -= dt * (potential(x, y) * guess + before * weight) / 2;
        }
        expected[j * side + i] += weight / walks;
      }
      expected_squares += std::pow(expected[j * side + i] - std::exp(level(x0, y0) - 1), 2);
    }
  std::vector<double> found(side * side), squares(1);
  std::vector<int> inside(1);
  launch("walk", {{1, side}, 32}, e, step, dt, walks, side, found, squares, inside);
  expect_equal("inside", inside, {expected_inside});
  expect_near("found", found, expected, 1e-12);
  expect_near("squares", squares[0], expected_squares, 1e-12);
}

FOREIGN_SOURCE(hecbench, haversine) {
  const int n = 300;
  struct alignas(16) ways {
    double from_x, from_y, to_x, to_y;
  };
  const auto degrees = doubles(4 * n, -90, 90);
  std::vector<ways> way;
  std::vector<double> expected, km(n);
  const double radian = std::numbers::pi / 180;
  for (int i = 0; i < n; ++i) {
    way.push_back({degrees[4 * i], degrees[4 * i + 1], degrees[4 * i + 2], degrees[4 * i + 3]});
    // The angle between two vectors.
    const auto& w = way.back();
    const double cosine =
        std::sin(w.from_x * radian) * std::sin(w.to_x * radian) +
        std::cos(w.from_x * radian) * std::cos(w.to_x * radian) * std::cos((w.to_y - w.from_y) * radian);
    expected.push_back(6371 * std::acos(cosine));
  }
  launch("lengths", {blocks(n, 256), 256}, way, km, n);
  expect_near("km", km, expected, 1e-9);
}

FOREIGN_SOURCE(hecbench, ising, .kernels = {"throw_spins", "half_sweep<colour::black>", "half_sweep<colour::white>"}) {
  const long long rows = 12, cols = 9;  // of each color
  const int fields = int(rows * cols);
  const float beta = 0.3f;
  const auto chance = floats(fields, 0, 1), other_chance = floats(fields, 0, 1);
  std::vector<signed char> spins[2] = {std::vector<signed char>(fields), std::vector<signed char>(fields)};
  launch("throw_spins", {blocks(fields, 64), 64}, spins[0], chance, rows * cols);
  launch("throw_spins", {blocks(fields, 64), 64}, spins[1], other_chance, rows * cols);
  // The whole board: black where row + column is even.
  const int width = int(2 * cols), height = int(rows);
  std::vector<int> board(height * width);
  for (int i = 0; i < height * width; ++i) {
    const int y = i / width, x = i % width, colour = (x + y) % 2;
    board[i] = (colour == 0 ? chance : other_chance)[y * cols + x / 2] < 0.5f ? -1 : 1;
  }
  for (int colour : {0, 1}) {
    const auto draw = floats(fields, 0, 1);
    for (int i = 0; i < height * width; ++i) {
      const int y = i / width, x = i % width;
      if ((x + y) % 2 != colour) continue;
      const int field = board[(y + 1) % height * width + x] + board[(y + height - 1) % height * width + x] +
                        board[y * width + (x + 1) % width] + board[y * width + (x + width - 1) % width];
      if (draw[y * cols + x / 2] < std::exp(-2 * beta * field * board[i])) board[i] *= -1;
    }
    launch(colour == 0 ? "half_sweep<colour::black>" : "half_sweep<colour::white>", {blocks(fields, 64), 64},
           spins[colour], spins[1 - colour], draw, beta, rows, cols);
  }
  std::vector<int> got(height * width);
  for (int i = 0; i < height * width; ++i)
    got[i] = spins[(i % width + i / width) % 2][i / width * cols + i % width / 2];
  expect_equal("spins", got, board);
}

FOREIGN_SOURCE(hecbench, knn) {
  const int refs = 50, queries = 37, dim = 21, k = 5;
  const auto r = floats(refs * dim), q = floats(queries * dim);
  std::vector<double> near;
  std::vector<int> order;
  for (int i = 0; i < queries; ++i) {
    std::vector<std::pair<double, int>> all;
    for (int j = 0; j < refs; ++j) {
      double sum = 0;
      for (int d = 0; d < dim; ++d) sum += std::pow(q[d * queries + i] - r[d * refs + j], 2);
      all.emplace_back(std::sqrt(sum), j);
    }
    std::sort(all.begin(), all.end());
    for (int n = 0; n < k; ++n) {
      near.push_back(all[n].first);
      order.push_back(all[n].second);
    }
  }
  std::vector<float> distances(refs * queries), got;
  std::vector<int> index(k * queries), got_order;
  launch("squares_of_tiles", {{blocks(queries, 16), blocks(refs, 16)}, {16, 16}}, r, refs, q, queries, dim, distances);
  launch("nearest_first", {blocks(queries, 64), 64}, distances, index, queries, refs, k);
  launch("roots", {{blocks(queries, 16), 1}, {16, 16}}, distances, queries, k);
  for (int i = 0; i < queries * k; ++i) {
    got.push_back(distances[i % k * queries + i / k]);
    got_order.push_back(index[i % k * queries + i / k]);
  }
  expect_near("distances", got, near, 1e-6);
  expect_equal("order", got_order, order);
}

FOREIGN_SOURCE(hecbench, lif) {
  const int items = 4, of_item = 60, n = items * of_item, steps = 40;
  const float dt = 0.1f, tau = 2, rest = 0.3f;
  const auto inputs = floats(items, 0.5, 2), bias = floats(of_item, 0, 1), gain = floats(of_item, 0.5, 2);
  std::vector<float> voltages(n), resting(n), spikes(n);
  std::vector<double> fired(n), expected(n), v(n), r(n);
  for (int t = 0; t < steps; ++t) {
    launch("fire", {2, 64}, n, of_item, dt, tau, rest, inputs, bias, gain, voltages, resting, spikes);
    for (int i = 0; i < n; ++i) {
      fired[i] += spikes[i] * dt;
      const double drive = bias[i % of_item] + gain[i % of_item] * inputs[i / of_item];
      const double change = (1 - std::exp(-double{dt} / tau)) * (drive - v[i]);
      r[i] -= dt;
      v[i] = std::max(v[i] + change, 0.0) * std::clamp(1 - r[i] / dt, 0.0, 1.0);
      if (v[i] <= 1) continue;
      ++expected[i];
      r[i] = rest + dt * (1 - (v[i] - 1) / change);
      v[i] = 0;
    }
  }
  expect_near("spikes", fired, expected, 1e-5);
  expect_near("voltages", voltages, v, 1e-3);
}

FOREIGN_SOURCE(hecbench, minibude, .kernels = {"poses_energy<1>", "poses_energy<2>"}) {
  struct alignas(16) atom {
    float x, y, z;
    std::int32_t type;
  };
  struct kind {
    std::int32_t bonds;
    float radius, phobia, charge;
  };
  const int proteins = 30, ligands = 7, kinds = 5, poses = 70;
  const auto atoms = [&](int count, double extent) {
    const auto at = floats(3 * count, -extent, extent);
    const auto types = integers(count, 0, kinds - 1);
    std::vector<atom> out;
    for (int i = 0; i < count; ++i) out.push_back({at[3 * i], at[3 * i + 1], at[3 * i + 2], types[i]});
    return out;
  };
  const auto protein = atoms(proteins, 4), ligand = atoms(ligands, 2);
  const auto numbers = floats(3 * kinds, 0.5, 1.5);
  std::vector<kind> field;
  for (int i = 0; i < kinds; ++i) field.push_back({i % 2, numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]});
  const auto turn_x = floats(poses, -3, 3), turn_z = floats(poses, -3, 3), shift_x = floats(poses, -2, 2),
             shift_y = floats(poses, -2, 2);
  std::vector<double> expected;
  for (int p = 0; p < poses; ++p) {
    double energy = 0;
    for (const atom& l : ligand) {
      // Rotates about x, then about z, then translates.
      const double y = l.y * std::cos(turn_x[p]) - l.z * std::sin(turn_x[p]);
      const double z = l.y * std::sin(turn_x[p]) + l.z * std::cos(turn_x[p]);
      const double x = l.x * std::cos(turn_z[p]) - y * std::sin(turn_z[p]) + shift_x[p];
      const double y2 = l.x * std::sin(turn_z[p]) + y * std::cos(turn_z[p]) + shift_y[p];
      for (const atom& a : protein) {
        const kind &one = field[l.type], &two = field[a.type];
        const double apart = std::hypot(x - a.x, y2 - a.y, z - a.z), radii = double{one.radius} + two.radius;
        if (apart < radii) energy += 38 * (radii - apart) / radii;
        if (apart >= 6) continue;
        energy += (1 - apart / 6) * (one.phobia + two.phobia);
        if (one.bonds != 0 && two.bonds != 0) energy += (1 - apart / 6) * one.charge * two.charge;
      }
    }
    expected.push_back(energy / 2);
  }
  for (const int each : {1, 2}) {
    std::vector<float> energies(poses);
    launch("poses_energy<" + std::to_string(each) + ">", {blocks(poses, 32 * each), 32, kinds * 16}, protein, ligand,
           field, proteins, ligands, kinds, poses, turn_x, turn_z, shift_x, shift_y, energies);
    expect_near("energies", energies, expected, 1e-5);
  }
}

// Right if the threads of a warp run at the same time; wrong on the host, because of the race under `if (me > n)`: see
// README.md.
FOREIGN_SOURCE(hecbench, sosfilt, .kernels = {"filter_rows<float>", "filter_rows<double>"}) {
  const int samples = 50, signals = 3;
  const auto run = [&](const char* kernel, auto factors, auto in, int sections, double tolerance) {
    std::vector<double> expected(in.begin(), in.end());
    for (int k = 0; k < sections; ++k) {
      const auto* const f = &factors[6L * k];
      for (int row = 0; row < signals; ++row) {
        const std::vector<double> x(expected.begin() + row * samples, expected.begin() + (row + 1) * samples);
        double* const y = &expected[row * samples];
        const auto before = [](const double* v, int i, int back) { return i < back ? 0 : v[i - back]; };
        for (int i = 0; i < samples; ++i)
          y[i] = f[0] * x[i] + f[1] * before(x.data(), i, 1) + f[2] * before(x.data(), i, 2) - f[4] * before(y, i, 1) -
                 f[5] * before(y, i, 2);
      }
    }
    launch(kernel, {{1, signals}, sections, 9 * sections * sizeof factors[0]}, samples, sections, factors, in);
    expect_near("filtered", in, expected, tolerance);
  };
  run("filter_rows<float>", floats(6 * 7, -0.5, 0.5), floats(samples * signals), 7, 1e-5);
  run("filter_rows<double>", doubles(6 * 32, -0.5, 0.5), doubles(samples * signals), 32, 1e-11);
}

}  // namespace troupe::foreign
