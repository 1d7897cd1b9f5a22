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

/// Prefix sums of each group of `length`.
template <class T>
std::vector<T> prefix_sums(const std::vector<T>& v, std::size_t length, bool inclusive) {
  std::vector<T> out(v.size());
  for (std::size_t i = 0; i < v.size(); i += length) {
    if (inclusive)
      std::inclusive_scan(&v[i], &v[i] + length, &out[i]);
    else
      std::exclusive_scan(&v[i], &v[i] + length, &out[i], T{});
  }
  return out;
}

/// A call option, and a put.
std::array<double, 2> black_scholes(double spot, double strike, double years, double rate, double volatility) {
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2)) / 2; };
  const double deviation = volatility * std::sqrt(years);
  const double up = (std::log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
  const double later = strike * std::exp(-rate * years);
  const double call = spot * normal(up) - later * normal(up - deviation);
  return {call, call + later - spot};
}

}  // namespace

FOREIGN_SOURCE(samples, aggregated_atomics, .globals = {"counters"}) {
  const int n = 1000;
  const auto src = integers(n, -3, 3);
  std::vector<int> kept;
  std::copy_if(src.begin(), src.end(), std::back_inserter(kept), [](int v) { return v > 0; });
  std::sort(kept.begin(), kept.end());
  for (const char* kernel : {"filter_simple", "filter_aggregated", "filter_ballot"}) {
    std::vector<int> dst(n), count(1);
    launch(kernel, {blocks(n, 96), 96}, dst, count, src, n);
    dst.resize(std::max(1, count[0]));
    std::sort(dst.begin(), dst.end());
    expect_equal(kernel, dst, kept);
  }

  const auto labels = integers<unsigned>(n, 0, 7);
  std::vector<unsigned> of_labels(8);
  for (const unsigned l : labels) ++of_labels[l];
  launch("count_labels", {blocks(n, 128), 128}, labels, n);
  expect_equal("counters", read_global<unsigned>("counters", 8), of_labels);

  const int threads = 64, warps = 6;
  auto flags = integers(warps * 32, 0, 1);
  std::fill(&flags[32], &flags[64], 1);
  std::fill(&flags[64], &flags[64] + 64, 0);
  std::vector<int> any(warps), all(warps), sums(warps), expected_any(warps), expected_all(warps), expected_sums(warps);
  for (int w = 0; w < warps; ++w) {
    const int *const warp = &flags[w * 32], *const block = &flags[w / 2 * threads];
    expected_any[w] = std::any_of(warp, warp + 32, [](int v) { return v != 0; });
    expected_all[w] = std::all_of(warp, warp + 32, [](int v) { return v != 0; });
    const int sum = std::accumulate(block, block + threads, 0);
    expected_sums[w] = sum + (sum == 0 ? 1000 : 0) + (std::accumulate(block + 32, block + 64, 0) == 32 ? 2000 : 0);
  }
  launch("votes", {warps * 32 / threads, threads}, flags, any, all, sums);
  expect_equal("any", any, expected_any);
  expect_equal("all", all, expected_all);
  expect_equal("counts", sums, expected_sums);
}

FOREIGN_SOURCE(samples, bilateral_filter, .globals = {"byDistance"}) {
  const int width = 37, height = 21, radius = 3, n = width * height;
  const float d = 0.2f, amount = 1.5f;
  const auto image = integers<unsigned>(n, 0, 0xffffffff);
  std::vector<float> weights(64);
  for (int i = 0; i <= 2 * radius; ++i) weights[i] = std::exp(-std::pow(i - radius, 2) / 8.0f);
  write_global("byDistance", weights);
  const auto channel = [](unsigned word, int c) { return (word >> 8 * c & 255) / 255.0; };
  // Words differ where a colour is nearly between two steps, so each channel is compared.
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

FOREIGN_SOURCE(samples, bitonic_sort) {
  const unsigned n = 2048, in_block = 256;
  auto keys = integers<unsigned>(n, 0, 0xffffffff);
  std::vector<unsigned> values(n);
  std::iota(values.begin(), values.end(), 0u);
  const auto original = keys;
  auto expected = keys;
  std::sort(expected.begin(), expected.end());
  launch("sortShared", {n / in_block, in_block / 2}, keys, values);
  for (unsigned size = 2 * in_block; size <= n; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2)
      launch("mergeGlobal", {n / 512, 256}, keys, values, n, size, stride);
  expect_equal("keys", keys, expected);
  for (unsigned& v : values) v = original.at(v);
  expect_equal("keys by values", values, expected);
}

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
  // Rows of a matrix with two neighbours for each number.
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

FOREIGN_SOURCE(samples, histogram) {
  const unsigned quads = 1000, words = 4 * quads;
  const auto data = integers<unsigned>(words, 0, 0xffffffff);
  std::vector<unsigned> bins256(256), bins64(64);
  for (const unsigned w : data)
    for (int shift = 0; shift < 32; shift += 8) {
      ++bins256[w >> shift & 255];
      ++bins64[w >> shift >> 2 & 63];
    }
  struct alignas(16) uint4 {
    unsigned x, y, z, w;
  };
  std::vector<uint4> packed(quads);
  std::memcpy(packed.data(), data.data(), words * sizeof(unsigned));
  std::vector<unsigned> out64(64), parts(5 * 256), out256(256);
  launch("histogram64", {4, 64}, out64, packed, quads);
  expect_equal("64 bins", out64, bins64);
  launch("histogram256", {5, 128}, parts, data, words);
  launch("mergeHistograms", {256, 64}, out256, parts, 5u);
  expect_equal("256 bins", out256, bins256);
}

FOREIGN_SOURCE(samples, interval, .kernels = {"find_roots<float>", "find_roots<double>"}) {
  const int threads = 40, most = 32;
  const auto constants = doubles(threads, -1.9, 1.9);  // three roots each
  const auto check = [&](const char* kernel, auto shortest) {
    using number = decltype(shortest);
    struct range {
      number low, high;
    };
    std::vector<range> roots(threads * most);
    std::vector<int> counts(threads);
    const std::vector<number> rounded(constants.begin(), constants.end());
    launch(kernel, {2, threads / 2}, roots, counts, rounded, shortest, most);
    // Each root lies in a part, and each part has a root or touches one that has.
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

FOREIGN_SOURCE(samples, last_block, .kernels = {"sumSinglePass<128>", "sumSinglePass<32>", "countPositive"}) {
  const unsigned n = 4096;
  const auto in = floats(n);
  const std::vector sum{std::accumulate(in.begin(), in.end(), 0.0)};
  for (const int grid : {7, 1, 7}) {  // the counter is 0 again
    std::vector<float> parts(grid), out(1);
    launch("sumSinglePass<128>", {grid, 128}, in, parts, out, n);
    expect_near("by blocks of 128", out, sum, 1e-5);
    launch("sumSinglePass<32>", {grid, 32}, in, parts, out, n);
    expect_near("by warps", out, sum, 1e-5);
  }
  std::vector<int> counts(n / 32), expected(n / 32);
  for (unsigned i = 0; i < n; ++i) expected[i / 32] += in[i] > 0;
  launch("countPositive", {n / 64, 64}, in, counts);
  expect_equal("counts", counts, expected);
}

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
    // A pixel that escapes one step later in other arithmetic is no fault, many such are.
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

FOREIGN_SOURCE(samples, reduction,
               .kernels = {"sum_modulo<int>", "sum_strided<float>", "sum_while_loading<double>",
                           "sum_unrolled<int, 256, true>", "sum_unrolled<float, 512, false>"}) {
  const unsigned n = 5000;
  const auto whole = integers(n, -1000, 1000);
  const auto check = [&](const char* kernel, int threads, int grid, auto zero) {
    using number = decltype(zero);
    const std::vector<number> in(whole.begin(), whole.end());
    std::vector<number> out(grid);
    launch(kernel, {grid, threads, std::max(threads, 64) * sizeof(number)}, in, out, n);
    expect_near(kernel, std::accumulate(out.begin(), out.end(), 0.0), std::accumulate(whole.begin(), whole.end(), 0.0),
                1e-6);
  };
  check("sum_modulo<int>", 128, blocks(n, 128), 0);
  check("sum_strided<float>", 128, blocks(n, 128), 0.0f);
  check("sum_while_loading<double>", 256, blocks(n, 512), 0.0);
  check("sum_unrolled<int, 256, true>", 256, 4, 0);
  check("sum_unrolled<float, 512, false>", 512, 3, 0.0f);
}

FOREIGN_SOURCE(samples, reduction_partial_warp,
               .kernels = {"sumPartialWarps<int, 64>", "sumPartialWarps<float, 96>", "sumPartialWarps<float, 256>",
                           "sumByGroups<double>"}) {
  const unsigned n = 1000;
  const auto whole = integers(n, -1000, 1000);
  const double expected = std::accumulate(whole.begin(), whole.end(), 0.0);
  const auto check = [&](const char* kernel, int threads, auto zero) {
    using number = decltype(zero);
    std::vector<number> out(3);
    launch(kernel, {3, threads}, std::vector<number>(whole.begin(), whole.end()), out, n);
    expect_near(kernel, std::accumulate(out.begin(), out.end(), 0.0), expected, 1e-6);
  };
  check("sumByGroups<double>", 128, 0.0);
  check("sumPartialWarps<int, 64>", 64, 0);
  check("sumPartialWarps<float, 96>", 96, 0.0f);
  check("sumPartialWarps<float, 256>", 256, 0.0f);
}

FOREIGN_SOURCE(samples, scan) {
  const unsigned quads = 256, length = 128;
  struct alignas(16) uint4 {
    unsigned v[4];
  };
  const auto data = integers<unsigned>(4 * quads, 0, 1000);
  std::vector<uint4> in(quads), out(quads);
  std::memcpy(in.data(), data.data(), data.size() * 4);
  launch("scanShort", {quads / 64, 64}, out, in, length);
  std::vector<unsigned> sums(4 * quads);
  std::memcpy(sums.data(), out.data(), sums.size() * 4);
  expect_equal("short arrays", sums, prefix_sums(data, length, false));

  const int n = 256;
  const auto numbers = floats(n);
  std::vector<float> tree(n);
  launch("scanTree", {1, n / 2, (n + n / 32) * 4}, tree, numbers, n);
  expect_near("by a tree", tree, prefix_sums(std::vector<double>(numbers.begin(), numbers.end()), n, false), 1e-6);
}

FOREIGN_SOURCE(samples, shfl_scan) {
  const int n = 2048, threads = 256, grid = n / threads;
  auto values = integers(n, -100, 100);
  const auto expected = prefix_sums(values, n, true);
  std::vector<int> totals(grid), none(1);
  launch("scan_blocks", {grid, threads, 32 * 4}, values, 32, totals);
  launch("scan_blocks", {1, grid, 32 * 4}, totals, grid, none);
  launch("add_totals", {grid, threads}, values, totals, n);
  expect_equal("sums", values, expected);

  const int rows = 3, quads = 96;
  struct alignas(16) uint4 {
    unsigned v[4];
  };
  const auto image = integers<unsigned>(rows * quads * 4, 0, 255);
  std::vector<uint4> in(rows * quads), out(rows * quads);
  std::memcpy(in.data(), image.data(), image.size() * 4);
  launch("integral_rows", {rows, quads}, in, out, quads);
  std::vector<unsigned> sums(image.size());
  std::memcpy(sums.data(), out.data(), sums.size() * 4);
  expect_equal("integral image", sums, prefix_sums(image, quads * 4, true));
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

FOREIGN_SOURCE(samples, vector_add) {
  const int n = 5000;
  const auto a = floats(n), b = floats(n);
  std::vector<float> expected(n), c(n);
  for (int i = 0; i < n; ++i) expected[i] = a[i] + b[i];
  launch("vectorAdd", {blocks(n, 256), 256}, a, b, c, n);
  expect_equal("C", c, expected);
}

}  // namespace troupe::foreign
