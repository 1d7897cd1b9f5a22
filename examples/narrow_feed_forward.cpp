// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The feed-forward block of a transformer, forward and backward, in bfloat16 and in 8-bit floats with scales, compared
// with float.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using epilogue::acc, epilogue::load, epilogue::number, epilogue::row;

constexpr int tokens = 128, width = 256, inner = 512;

static std::vector<float> random_numbers(int count, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(0, size);
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& v : out) v = value(random);
  return out;
}

// A matrix of T and the number that its elements are to be multiplied by: 8-bit floats use their whole range.
template <class T>
struct scaled {
  matrix<T> elements;
  buffer<float> scale;
};
template <class T>
scaled<T> narrowed(const device& gpu, const std::vector<float>& values, int rows, int columns) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::fabs(v));
  const float scale = sizeof(T) == 1 ? largest / 256 : 1;
  std::vector<T> narrow;
  for (const float v : values) narrow.push_back(T(v / scale));
  return {matrix(gpu.upload(narrow), rows, columns), gpu.upload(std::vector<float>{scale})};
}

template <class T, class Result>
struct feed_forward {
  device gpu;
  scaled<T> x = narrowed<T>(gpu, random_numbers(tokens* width, 1, 1), tokens, width),
            w1 = narrowed<T>(gpu, random_numbers(width* inner, 0.06f, 2), width, inner),
            w2 = narrowed<T>(gpu, random_numbers(inner* width, 0.04f, 3), inner, width),
            dy = narrowed<T>(gpu, random_numbers(tokens* width, 1, 4), tokens, width);
  buffer<Result> b1 = biases(inner, 5), b2 = biases(width, 6);
  matrix<Result> before{gpu.alloc<Result>(tokens * inner), tokens, inner},
      y{gpu.alloc<Result>(tokens * width), tokens, width}, dh{gpu.alloc<Result>(tokens * inner), tokens, inner};
  scaled<T> h{matrix(gpu.alloc<T>(tokens * inner), tokens, inner),
              gpu.upload(std::vector<float>{sizeof(T) == 1 ? 0.02f : 1})};
  buffer<float> of_h = gpu.upload(std::vector<float>{sizeof(T) == 1 ? 50.0f : 1});  // 1 / its scale
  buffer<float> db1 = gpu.alloc<float>(inner);

  buffer<Result> biases(int count, unsigned seed) const {
    std::vector<Result> out;
    for (const float v : random_numbers(count, 0.5f, seed)) out.push_back(Result(v));
    return gpu.upload(out);
  }
  static epilogue::expression product(const scaled<T>& a, const scaled<T>& b) {
    return number(a.scale) * number(b.scale) * acc;
  }
  void run() {
    matmul::multiply(gpu, h.elements, x.elements, w1.elements,
                     number(of_h) * gelu_tanh(store(before, product(x, w1) + row(b1))));
    matmul::multiply(gpu, y, h.elements, w2.elements, product(h, w2) + row(b2));
    matmul::multiply(gpu, dh, dy.elements, w2.elements.transposed(),
                     sum_columns(db1, product(dy, w2) * d_gelu_tanh(load(before))));
  }
};

// The difference of two results, relative to the size of the second.
template <class A, class B>
static double difference(const std::vector<A>& a, const std::vector<B>& b) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
    apart += (x - y) * (x - y), size += y * y;
  }
  return std::sqrt(apart / size);
}

template <class T, class Result>
static bool compare(const char* name, feed_forward<float, float>& exact, double bound) {
  feed_forward<T, Result> narrow{exact.gpu};
  narrow.run();
  const device& gpu = exact.gpu;
  const auto read = [&gpu](const auto& of) { return gpu.download(of).get().value(); };
  const double forward = difference(read(narrow.y.memory()), read(exact.y.memory())),
               backward = difference(read(narrow.dh.memory()), read(exact.dh.memory())),
               bias = difference(read(narrow.db1), read(exact.db1));
  std::printf("%-8s differs from float by %.4f forward, %.4f backward, %.4f in the bias's gradient\n", name, forward,
              backward, bias);
  return forward < bound && backward < bound && bias < bound;
}

int main() {
  runtime rt;
  feed_forward<float, float> exact{rt.open_device()};
  exact.run();
  const bool fine = compare<bfloat16, bfloat16>("bfloat16", exact, 0.02);
  return compare<float8_e4m3, bfloat16>("e4m3", exact, 0.1) && fine ? 0 : 1;
}
