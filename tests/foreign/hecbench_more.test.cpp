// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bitset>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <numeric>

#include "source.hpp"

namespace troupe::foreign {

namespace {

/// Computes products modulo 2^256 - 2^32 - 977 by doubling; numbers are bits, the lowest first.
using bits = std::vector<bool>;
bits of(const std::array<std::uint32_t, 8>& words) {
  bits out;
  for (int i = 0; i < 256; ++i) out.push_back((words[i / 32] >> i % 32 & 1) != 0);
  return out;
}
std::array<std::uint32_t, 8> words(const bits& b) {
  std::array<std::uint32_t, 8> out{};
  for (int i = 0; i < 256; ++i) out[i / 32] |= static_cast<std::uint32_t>(b[i]) << i % 32;
  return out;
}
const bits modulus = of({0xfffffc2f, 0xfffffffe, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U});
bits sum(const bits& a, const bits& b) {
  bits out;
  int carry = 0;
  for (int i = 0; i < 256; ++i) {
    carry += (a[i] ? 1 : 0) + (b[i] ? 1 : 0);
    out.push_back(carry % 2 != 0);
    carry /= 2;
  }
  const bool below = std::lexicographical_compare(out.rbegin(), out.rend(), modulus.rbegin(), modulus.rend());
  if (carry == 0 && below) return out;
  for (int i = 0, borrow = 0; i < 256; ++i) {
    const int d = (out[i] ? 1 : 0) - (modulus[i] ? 1 : 0) - borrow;
    out[i] = d % 2 != 0;
    borrow = d < 0 ? 1 : 0;
  }
  return out;
}
bits product(const bits& a, const bits& b) {
  bits out(256);
  for (int i = 255; i >= 0; --i) {
    out = sum(out, out);
    if (b[i]) out = sum(out, a);
  }
  return out;
}

/// PRESENT, with the state and the key as numbers.
std::uint64_t present(std::uint64_t state, const std::vector<unsigned char>& key) {
  const std::uint64_t box = 0x21748fe3da09b65c;  // the lowest digit is the substitute for 0
  const auto boxed = [&](std::uint64_t v) { return box >> 4 * (v & 15) & 15; };
  using bits80 = std::bitset<80>;
  bits80 k;
  for (const unsigned char b : key) k = k << 8 | bits80(b);
  for (unsigned round = 1; round <= 31; ++round) {
    state ^= (k >> 16).to_ullong();
    std::uint64_t next = 0;
    for (int digit = 0; digit < 16; ++digit)
      for (int bit = 0; bit < 4; ++bit) next |= (boxed(state >> 4 * digit) >> bit & 1) << (16 * bit + digit);
    state = next;
    k = k << 61 | k >> 19;
    k = (k << 4 >> 4) | bits80(boxed((k >> 76).to_ullong())) << 76;
    k ^= bits80(round) << 15;
  }
  return state ^ (k >> 16).to_ullong();
}

/// Counts boards with queens in `depth` more rows.
unsigned solutions(int n, int depth, unsigned columns, unsigned left, unsigned right) {
  if (depth == 0) return 1;
  unsigned count = 0;
  for (int c = 0; c < n; ++c) {
    const unsigned queen = 1U << c;
    if (((columns | left | right) & queen) == 0)
      count += solutions(n, depth - 1, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return count;
}

}  // namespace

FOREIGN_SOURCE(hecbench, bezier) {
  struct point {
    float x, y, z;
  };
  struct params {
    int group, in_i, in_j, out_i, out_j;
  };
  const params p{32, 4, 3, 12, 9};
  const auto numbers = floats(3 * (p.in_i + 1) * (p.in_j + 1));
  std::vector<point> in, out(p.out_i * p.out_j);
  for (std::size_t i = 0; i < numbers.size(); i += 3) in.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  std::vector<double> got, expected;
  for (int i = 0; i < p.out_i * p.out_j; ++i) {
    const double u = i / p.out_j / double(p.out_i - 1), v = i % p.out_j / double(p.out_j - 1);
    // De Casteljau: interpolates between neighbors until one is left; first along v, then along u.
    for (int axis = 0; axis < 3; ++axis) {
      const auto along = [](std::vector<double> c, double t) {
        for (; c.size() > 1; c.pop_back())
          for (std::size_t k = 0; k + 1 < c.size(); ++k) c[k] = std::lerp(c[k], c[k + 1], t);
        return c[0];
      };
      std::vector<double> rows;
      for (int k = 0; k <= p.in_i; ++k) {
        std::vector<double> row;
        for (int l = 0; l <= p.in_j; ++l) row.push_back(numbers[3 * (k * (p.in_j + 1) + l) + axis]);
        rows.push_back(along(row, v));
      }
      expected.push_back(along(rows, u));
    }
  }
  launch("surface", {2, 4, 12 * int(in.size())}, p.out_i * p.out_j, p, in, out);
  for (const point& o : out) got.insert(got.end(), {o.x, o.y, o.z});
  expect_near("surface", got, expected, 1e-5);
}

FOREIGN_SOURCE(hecbench, fft) {
  struct alignas(16) number {
    double x, y;
  };
  const int batch = 3, n = 512;
  const auto in = doubles(2 * batch * n);
  std::vector<number> work;
  std::vector<double> got, expected;
  for (int i = 0; i < batch * n; ++i) work.push_back({in[2 * i], in[2 * i + 1]});
  for (int i = 0; i < batch * n; ++i) {
    std::complex<double> sum;
    for (int k = 0; k < n; ++k)
      sum += std::complex(work[i / n * n + k].x, work[i / n * n + k].y) *
             std::polar(1.0, -2 * std::numbers::pi * (i % n * k % n) / n);
    expected.insert(expected.end(), {sum.real(), sum.imag()});
  }
  launch("fft512", {batch, 64}, work);
  for (const number& w : work) got.insert(got.end(), {w.x, w.y});
  expect_near("spectrum", got, expected, 1e-12);
}

FOREIGN_SOURCE(hecbench, floydwarshall) {
  const unsigned n = 40;
  auto distances = integers<unsigned>(n * n, 1, 200);
  for (unsigned i = 0; i < n; ++i) distances[i * n + i] = 0;
  // The shortest paths from one source after another, by Bellman and Ford.
  std::vector<unsigned> expected;
  for (unsigned from = 0; from < n; ++from) {
    std::vector<unsigned> far(n, 100000);
    far[from] = 0;
    for (unsigned round = 0; round < n; ++round)
      for (unsigned i = 0; i < n * n; ++i) far[i % n] = std::min(far[i % n], far[i / n] + distances[i]);
    expected.insert(expected.end(), far.begin(), far.end());
  }
  std::vector<unsigned> through(n * n, n);
  const auto direct = distances;
  for (unsigned k = 0; k < n; ++k)
    launch("one_more_place", {{blocks(n, 16), blocks(n, 16)}, {16, 16}}, distances, through, n, k);
  expect_equal("distances", distances, expected);
  std::vector<unsigned> parts;
  for (unsigned i = 0; i < n * n; ++i)
    parts.push_back(through[i] == n ? direct[i] : expected[i / n * n + through[i]] + expected[through[i] * n + i % n]);
  expect_equal("ways by their parts", parts, expected);
}

FOREIGN_SOURCE(hecbench, median) {
  const int w = 45, h = 14;
  const float amount = 1.5f;
  const auto source = integers<unsigned>(w * h, 0, UINT32_MAX);
  std::vector<unsigned> medians(w * h), sharp(w * h), expected_medians, expected_sharp;
  for (int i = 0; i < w * h; ++i) {
    unsigned median = 0, value = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      std::vector<int> near;
      double blurred = 0;
      for (int k = 0; k < 9; ++k) {
        const int y = std::clamp(i / w + k / 3 - 1, 0, h - 1), x = std::clamp(i % w + k % 3 - 1, 0, w - 1);
        near.push_back(static_cast<int>(source[y * w + x] >> shift & 255));
        blurred += near.back() * (2 - std::abs(k / 3 - 1)) * (2 - std::abs(k % 3 - 1)) / 16.0;
      }
      const double here = near[4];
      value |= static_cast<unsigned>(std::clamp(std::nearbyint(here + amount * (here - blurred)), 0.0, 255.0)) << shift;
      std::sort(near.begin(), near.end());
      median |= static_cast<unsigned>(near[4]) << shift;
    }
    expected_medians.push_back(median);
    expected_sharp.push_back(value);
  }
  launch("sharpen", {{blocks(w, 16), blocks(h, 4)}, {16, 4}, 18 * 6 * 4}, source, medians, sharp, w, h, amount);
  expect_equal("medians", medians, expected_medians);
  expect_equal("sharp", sharp, expected_sharp);
}

FOREIGN_SOURCE(hecbench, nqueens) {
  const int n = 9, placed = 2;
  std::vector<unsigned> columns, left, right;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      const unsigned first = 1U << a, second = 1U << b;
      if (std::abs(a - b) <= 1) continue;
      columns.push_back(first | second);
      left.push_back((first << 1 | second) << 1);
      right.push_back((first >> 1 | second) >> 1);
    }
  const int total = static_cast<int>(columns.size()), parts = blocks(total, 32);
  std::vector<unsigned> expected(parts), results(parts);
  for (int i = 0; i < total; ++i) expected[i / 32] += solutions(n, n - placed, columns[i], left[i], right[i]);
  expect_equal("reference", std::vector{std::accumulate(expected.begin(), expected.end(), 0)}, {352});
  launch("solve_boards", {parts, 32}, n, n - placed, columns, left, right, results, total);
  expect_equal("solutions", results, expected);
}

FOREIGN_SOURCE(hecbench, perlin) {
  struct alignas(8) two {
    float x, y;
  };
  struct four {
    unsigned char of[4];
  };
  const int width = 40, height = 21, octaves = 3;
  const float scale = 0.11f;
  const two shift{-3.3f, 5.1f};
  const auto permutation = integers<unsigned char>(256, 0, 255);
  std::vector<double> expected, got;
  for (int i = 0; i < width * height; ++i) {
    double value = 0;
    for (int o = 0; o < octaves; ++o) {
      const double frequency = scale * (1 << o), x = i % width * frequency + shift.x,
                   y = i / width * frequency + shift.y;
      for (int corner = 0; corner < 4; ++corner) {
        const int cx = int(std::floor(x)) + corner % 2, cy = int(std::floor(y)) + corner / 2;
        const int hash = permutation[(permutation[cx & 255] + cy) & 255];
        const auto faded = [](double t) { return 1 - t * t * t * (10 - 15 * t + 6 * t * t); };
        const double u = (hash & 1) != 0 ? x - cx : cx - x, v = (hash & 2) != 0 ? y - cy : cy - y;
        value +=
            ((hash & 4) != 0 ? u + 2 * v : v + 2 * u) * faded(std::abs(x - cx)) * faded(std::abs(y - cy)) / (1 << o);
      }
    }
    // The kernel truncates to integers: with 1/2 subtracted, the error is at most 1/2.
    expected.push_back(std::clamp(128 + 48 * value, 0.0, 255.0) - 0.5);
  }
  std::vector<four> image(width * height);
  launch("perlin_image", {{blocks(width, 16), blocks(height, 16)}, {16, 16}}, image, permutation, width, height, scale,
         octaves, shift);
  for (const four& p : image) {
    got.push_back(p.of[0]);
    expect_equal("others", std::vector<int>{p.of[1], p.of[2], p.of[3]}, {p.of[0], 255 - p.of[0], 255});
  }
  expect_near("grey", got, expected, 0.501 / *std::max_element(expected.begin(), expected.end()));
}

FOREIGN_SOURCE(hecbench, present) {
  const std::vector<unsigned char> zeros(10);
  expect_equal("reference", std::vector{present(0, zeros)}, {0x5579c1387b228445});
  const int n = 60;
  const auto key = integers<unsigned char>(10, 0, 255), plain = integers<unsigned char>(8 * n, 0, 255);
  std::vector<unsigned char> cipher(8 * n), expected;
  for (int i = 0; i < n; ++i) {
    std::uint64_t block = 0;
    for (int b = 0; b < 8; ++b) block = block << 8 | plain[8 * i + b];
    block = present(block, key);
    for (int shift = 56; shift >= 0; shift -= 8) expected.push_back(static_cast<unsigned char>(block >> shift));
  }
  launch("present_rounds", {1, 64}, plain, key, cipher, n);
  expect_equal("cipher", cipher, expected);
}

FOREIGN_SOURCE(hecbench, raytrace, .globals = {"scene", "light"}) {
  using vec = std::array<double, 3>;
  struct sphere {
    float centre[3], tint[3], radius, mirror;
  };
  const std::vector<sphere> scene{{{0, 0, -1}, {1, 0.2f, 0.2f}, 1, 0.3f},
                                  {{1.5f, 0.3f, 0}, {0.2f, 1, 0.2f}, 0.6f, 0.6f},
                                  {{-1.4f, -0.2f, 0.5f}, {0.3f, 0.3f, 1}, 0.7f, 0.1f}};
  const std::vector<float> light{0.6f, 0.64f, 0.48f};
  const int width = 30, height = 20;
  const auto dot = [](const vec& a, const vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  const auto moved = [](const vec& from, const vec& along, double by) {
    return vec{from[0] + by * along[0], from[1] + by * along[1], from[2] + by * along[2]};
  };
  const auto colour = [&](auto&& self, const vec& from, const vec& along, int left) -> vec {
    const sphere* hit = nullptr;
    double at = 1e30;
    for (const sphere& s : scene) {
      const vec away = moved(from, {s.centre[0], s.centre[1], s.centre[2]}, -1);
      const double b = dot(away, along), root = b * b - dot(away, away) + double{s.radius} * s.radius;
      if (root < 0) continue;
      for (const double t : {-b - std::sqrt(root), -b + std::sqrt(root)})
        if (t > 1e-3 && t < at) {
          at = t;
          hit = &s;
        }
    }
    if (hit == nullptr) {
      const double up = (along[1] + 1) / 2;
      return {1 - 0.5 * up, 1 - 0.3 * up, 1};
    }
    const vec point = moved(from, along, at);
    vec normal = moved(point, {hit->centre[0], hit->centre[1], hit->centre[2]}, -1);
    for (double& v : normal) v /= hit->radius;
    const double bright = std::max(0.0, dot(normal, {light[0], light[1], light[2]}));
    vec out{};
    if (left > 0) out = self(self, point, moved(along, normal, -2 * dot(along, normal)), left - 1);
    for (int i = 0; i < 3; ++i) out[i] = out[i] * hit->mirror + hit->tint[i] * bright * (1 - hit->mirror);
    return out;
  };
  std::vector<double> expected;
  for (int i = 0; i < width * height; ++i) {
    vec along{(i % width + .5) / width * 2 - 1, (i / width + .5) / height * 2 - 1, -1.5};
    const double length = std::sqrt(dot(along, along));
    for (double& v : along) v /= length;
    const vec c = colour(colour, {0, 0, 3}, along, 3);
    expected.insert(expected.end(), c.begin(), c.end());
  }
  auto all = scene;
  all.resize(8);
  write_global("scene", all);
  write_global("light", light);
  std::vector<float> image(3 * width * height);
  launch("render", {{blocks(width, 8), blocks(height, 8)}, {8, 8}}, image, width, height, int(scene.size()));
  expect_near("image", image, expected, 1e-3);
}

FOREIGN_SOURCE(hecbench, secp) {
  using number = std::array<std::uint32_t, 8>;
  const int n = 20;
  const auto random = integers<std::uint32_t>(16 * n, 0, UINT32_MAX);
  std::vector<number> a(n), b(n), sums(n), products(n), inverses(n);
  std::memcpy(a.data(), random.data(), sizeof(number) * n);
  std::memcpy(b.data(), random.data() + 8 * n, sizeof(number) * n);
  a[0] = {0xfffffc2e, 0xfffffffe, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U};  // the largest
  b[0] = a[0];
  std::vector<std::uint32_t> got, expected;
  launch("arithmetic", {1, 32}, a, b, sums, products, inverses, n);
  const number one{1};
  for (int i = 0; i < n; ++i) {
    const number inverse = words(product(of(a[i]), of(inverses[i])));
    for (const number& v : {sums[i], products[i], inverse}) got.insert(got.end(), v.begin(), v.end());
    for (const number& v : {words(sum(of(a[i]), of(b[i]))), words(product(of(a[i]), of(b[i]))), one})
      expected.insert(expected.end(), v.begin(), v.end());
  }
  expect_equal("sums, products, inverses", got, expected);
}

}  // namespace troupe::foreign
