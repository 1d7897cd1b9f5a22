// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstring>
#include <numeric>

#include "source.hpp"

namespace troupe::foreign {
namespace {

struct float2 {
  float x, y;
};
std::vector<double> doubles_of(const std::vector<float2>& v) {
  std::vector<double> out;
  for (const float2& p : v) out.insert(out.end(), {p.x, p.y});
  return out;
}

/// The prices of a call and a put option.
std::array<double, 2> black_scholes(double spot, double strike, double years, double rate, double volatility) {
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2)) / 2; };
  const double deviation = volatility * std::sqrt(years);
  const double up = (std::log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
  const double later = strike * std::exp(-rate * years);
  const double call = spot * normal(up) - later * normal(up - deviation);
  return {call, call + later - spot};
}

}  // namespace

FOREIGN_SOURCE(samples, black_scholes) {
  const int n = 1000;
  const float rate = 0.02f, volatility = 0.3f;
  const auto spots = floats(n, 5, 30), strikes = floats(n, 1, 100), years = floats(n, 0.25, 10);
  std::vector<double> calls(n), puts(n);
  for (int i = 0; i < n; ++i) {
    const auto [call, put] = black_scholes(spots[i], strikes[i], years[i], rate, volatility);
    calls[i] = call;
    puts[i] = put;
  }
  const auto pairs = [](const std::vector<float>& v) {
    std::vector<float2> out(v.size() / 2);
    std::memcpy(out.data(), v.data(), v.size() * sizeof(float));
    return out;
  };
  std::vector<float2> call_pairs(n / 2), put_pairs(n / 2);
  launch("priceOptions", {blocks(n / 2, 128), 128}, call_pairs, put_pairs, pairs(spots), pairs(strikes), pairs(years),
         rate, volatility, n / 2);
  expect_near("calls", doubles_of(call_pairs), calls, 2e-6);
  expect_near("puts", doubles_of(put_pairs), puts, 2e-6);
}

FOREIGN_SOURCE(samples, complex, .kernels = {"multiplyAndScale", "fft<64>", "magnitudes"}) {
  const int n = 64, transforms = 3, size = n * transforms;
  std::vector<float2> data(size), other(size);
  for (auto* v : {&data, &other})
    for (float2& z : *v) z = {floats(1)[0], floats(1)[0]};
  const auto number_of = [](float2 z) { return std::complex<double>(z.x, z.y); };
  std::vector<double> spectra, products, lengths;
  for (int i = 0; i < size; ++i) {
    std::complex<double> sum;
    for (int j = 0; j < n; ++j) sum += number_of(data[i / n * n + j]) * std::polar(1.0, -2 * M_PI * (i % n) * j / n);
    spectra.insert(spectra.end(), {sum.real(), sum.imag()});
    const auto product = number_of(data[i]) * number_of(other[i]) * 0.25;
    products.insert(products.end(), {product.real(), product.imag()});
    lengths.push_back(std::abs(number_of(data[i])) / std::abs(number_of(data[0])));
  }
  auto out = data;
  launch("fft<64>", {transforms, n / 2}, out, -1.0f);
  expect_near("spectra", doubles_of(out), spectra, 1e-6);
  out = data;
  launch("multiplyAndScale", {2, 32}, out, other, size, 0.25f);
  expect_near("products", doubles_of(out), products, 1e-6);
  struct alignas(16) double2 {
    double x, y;
  };
  std::vector<double2> wide;
  for (const float2 z : data) wide.push_back({z.x, z.y});
  std::vector<double> got(size);
  launch("magnitudes", {blocks(size, 64), 64}, wide, got, size);
  expect_near("magnitudes", got, lengths, 1e-12);
}

FOREIGN_SOURCE(samples, conjugate_gradient, .globals = {"dotOfGrid"}) {
  // A matrix whose rows connect each element with two neighbors.
  const int n = 300;
  std::vector<int> first{0}, columns;
  std::vector<float> values;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      columns.push_back(j);
      values.push_back(i == j ? 4.0f : floats(1)[0]);
    }
    first.push_back(static_cast<int>(columns.size()));
  }
  auto x = floats(n), r = floats(n);
  std::vector<double> product(n), residual(n);
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = first[i]; k < first[i + 1]; ++k) product[i] += double{values[k]} * x[columns[k]];
    residual[i] = r[i] - product[i];
    squares += residual[i] * residual[i];
  }
  std::vector<float> ax(n), p(n);
  launch("spmvStep", {3, 64}, first, columns, values, n, x, ax);
  expect_near("A x", ax, product, 1e-6);
  launch("saxpyStep", {3, 64}, ax, r, -1.0f, n);
  expect_near("r", r, residual, 1e-6);
  launch("dotStep", {3, 64, 2 * sizeof(double)}, r, r, n);
  expect_near("r r", read_global<double>("dotOfGrid", 1), std::vector{squares}, 1e-6);
}

FOREIGN_SOURCE(samples, interval, .kernels = {"find_roots<float>", "find_roots<double>"}) {
  const int threads = 40, most = 32;
  const auto constants = doubles(threads, -1.9, 1.9);  // each polynomial has three roots
  const auto check = [&](const char* kernel, auto shortest) {
    using number = decltype(shortest);
    struct range {
      number low, high;
    };
    std::vector<range> roots(threads * most);
    std::vector<int> counts(threads);
    const std::vector<number> rounded(constants.begin(), constants.end());
    launch(kernel, {2, threads / 2}, roots, counts, rounded, shortest, most);
    // Each root is in an interval, and each interval contains a root or touches one that does.
    std::vector<double> expected, got;
    for (int t = 0; t < threads; ++t)
      for (int k = 0; k < 3; ++k) {
        const double root = 2 * std::cos(std::acos(-double{rounded[t]} / 2) / 3 - 2 * M_PI * k / 3);
        expected.push_back(root);
        double nearest = 100;
        for (int i = 0; i < counts[t]; ++i) {
          const range r = roots[t * most + i];
          const double inside = std::clamp<double>(root, r.low, r.high);
          if (std::abs(inside - root) < std::abs(nearest - root)) nearest = inside;
        }
        got.push_back(nearest);
      }
    expect_near(kernel, got, expected, 1e-14);
    const int found = std::accumulate(counts.begin(), counts.end(), 0);
    if (found > 4 * threads * 3)
      throw failure{.wrong = true, .text = std::string(kernel) + " finds " + std::to_string(found) + " parts"};
  };
  check("find_roots<float>", 1e-3f);
  check("find_roots<double>", 1e-7);
}

FOREIGN_SOURCE(samples, matrix_mul, .kernels = {"multiplyTiles<16>", "multiplyTiles<32>"}) {
  const int m = 64, k = 96, n = 128;
  const auto a = floats(m * k), b = floats(k * n);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) expected[i * n + j] += double{a[i * k + l]} * b[l * n + j];
  for (const int side : {16, 32}) {
    std::vector<float> c(m * n);
    launch("multiplyTiles<" + std::to_string(side) + ">", {{n / side, m / side}, {side, side}}, c, a, b, k, n);
    expect_near("C", c, expected, 1e-5);
  }
}

FOREIGN_SOURCE(samples, monte_carlo, .globals = {"options"}) {
  struct option {
    float spot, strike, drift, spread;
  };
  const int n = 6, paths = 40000;
  const double rate = 0.06, volatility = 0.1;
  std::vector<option> options(n);
  std::vector<double> expected;
  for (option& o : options) {
    const double years = floats(1, 1, 5)[0];
    o = {floats(1, 15, 50)[0], floats(1, 10, 25)[0], float((rate - volatility * volatility / 2) * years),
         float(volatility * std::sqrt(years))};
    expected.push_back(black_scholes(o.spot, o.strike, years, rate, volatility)[0] * std::exp(rate * years));
  }
  write_global("options", options);
  std::vector<float2> values(n);
  launch("simulate", {n, 128}, values, 12345ull, paths);
  for (int i = 0; i < n; ++i) {
    const double variance = values[i].y - double{values[i].x} * values[i].x;
    const double off = std::abs(values[i].x - expected[i]), deviation = std::sqrt(std::max(0.0, variance) / paths);
    if (!(off <= 5 * deviation + 1e-5 * expected[i]))
      throw failure{.wrong = true, .text = "option " + std::to_string(i) + " is off by " + std::to_string(off)};
  }
}

FOREIGN_SOURCE(samples, nbody, .kernels = {"integrateBodies<float>", "integrateBodies<double>"},
               .globals = {"softeningSquared", "softeningSquared_fp64"}) {
  const unsigned n = 150;
  const auto check = [&](const char* kernel, auto zero, double tolerance) {
    using real = decltype(zero);
    struct alignas(4 * sizeof(real) > 16 ? 16 : 4 * sizeof(real)) vec4 {
      real v[4];
    };
    std::vector<vec4> old(n), fresh(n), velocity(n);
    for (auto* all : {&old, &velocity})
      for (vec4& b : *all)
        for (real& v : b.v) v = static_cast<real>(doubles(1)[0]);
    for (vec4& b : old) b.v[3] = std::abs(b.v[3]);
    std::vector<double> expected, got;
    for (unsigned i = 0; i < n; ++i) {
      double a[3] = {};
      for (const vec4& other : old) {
        double r[3], squares = 0.01;
        for (int k = 0; k < 3; ++k) squares += std::pow(r[k] = double{other.v[k]} - old[i].v[k], 2);
        for (int k = 0; k < 3; ++k) a[k] += r[k] * other.v[3] / std::pow(squares, 1.5);
      }
      for (int k = 0; k < 3; ++k) {
        const double v = (velocity[i].v[k] + a[k] * 0.01f) * 0.995f;
        expected.insert(expected.end(), {v, old[i].v[k] + v * 0.01f});
      }
    }
    launch(kernel, {blocks(n, 64), 64, 64 * sizeof(vec4)}, fresh, old, velocity, n, 0.01f, 0.995f);
    for (unsigned i = 0; i < n; ++i)
      for (int k = 0; k < 3; ++k) got.insert(got.end(), {velocity[i].v[k], fresh[i].v[k]});
    expect_near(kernel, got, expected, tolerance);
  };
  write_global("softeningSquared", std::vector{0.01f});
  write_global("softeningSquared_fp64", std::vector{0.01});
  check("integrateBodies<float>", 0.0f, 1e-5);
  check("integrateBodies<double>", 0.0, 1e-12);
}

FOREIGN_SOURCE(samples, overloads) {
  struct int2 {
    int x, y;
  };
  const int n = 128;
  const auto numbers = floats(n);
  std::vector<int2> pairs;
  std::vector<int> got, expected;
  std::vector<float> doubled_numbers;
  for (int i = 0; i < n; ++i) {
    pairs.push_back({i, -3 * i});
    expected.insert(expected.end(), {2 * i, -6 * i});
    doubled_numbers.push_back(2 * numbers[i]);
  }
  auto out = numbers;
  launch("doubled", {2, n / 2}, pairs, out);
  for (const int2& p : pairs) got.insert(got.end(), {p.x, p.y});
  expect_equal("pairs", got, expected);
  expect_equal("numbers", out, doubled_numbers);
}

FOREIGN_SOURCE(samples, vector_add) {
  const int n = 5000;
  const auto a = floats(n), b = floats(n);
  std::vector<float> expected(n), c(n);
  for (int i = 0; i < n; ++i) expected[i] = a[i] + b[i];
  launch("vectorAdd", {blocks(n, 256), 256}, a, b, c, n);
  expect_equal("C", c, expected);
}

}  // namespace troupe::foreign
