// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit floats with scales. The fewer terms share a scale, the less precision the small terms beside
// a large one lose. Compares with the product of the original numbers.
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <troupe/base/float8.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

constexpr std::int64_t rows = 48, columns = 40, terms = 1024;
using numbers = std::vector<float>;

// Returns numbers of which every 250th is `peak` times as large, as in activations of a language model.
static numbers random_numbers(std::int64_t count, float size, float peak, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> value(0, size);
  numbers out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(random) * (i % 250 == 0 ? peak : 1.0f);
  return out;
}

static numbers product_of(const numbers& a, const numbers& b) {
  numbers out;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < terms; ++k) sum += double{a[i * terms + k]} * double{b[k * columns + j]};
      out.push_back(static_cast<float>(sum));
    }
  return out;
}

// Returns the root of the mean square of the differences, relative to that of the numbers.
static double difference(const numbers& is, const numbers& should) {
  double apart = 0, all = 0;
  for (std::size_t i = 0; i < should.size(); ++i) {
    apart += std::pow(double{is[i]} - double{should[i]}, 2);
    all += std::pow(double{should[i]}, 2);
  }
  return std::sqrt(apart / all);
}

// A matrix of 8-bit floats with contiguous rows, and a scale for each block of a row.
struct scaled {
  matrix<float8_e4m3> elements;
  matrix<float> scales;
};
static scaled pack_rows(const device& gpu, const matrix<float>& from, std::int64_t block) {
  const extent blocks = from.columns() / block;
  const scaled out{{gpu.alloc<float8_e4m3>(from.rows() * from.columns()), from.rows(), from.columns()},
                   {gpu.alloc<float>(from.rows() * blocks), from.rows(), blocks}};
  // `pack` stores factors B, whose lines are columns.
  gpu.tell(
      cutlass::pack{.from = from.transposed(), .packed = out.elements.transposed(), .scales = out.scales.transposed()});
  return out;
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  const numbers a = random_numbers(rows * terms, 1, 100, 1), b = random_numbers(terms * columns, 0.05f, 1, 2);
  const matrix x(gpu.upload(a), rows, terms), w(gpu.upload(b), terms, columns);
  const numbers should = product_of(a, b);
  std::printf("terms with a scale   bytes of factors   error\n");
  bool right = true;
  for (const std::int64_t block : {terms, std::int64_t{128}, std::int64_t{32}}) {
    const scaled left = pack_rows(gpu, x, block), lines = pack_rows(gpu, w.transposed(), block);
    const matrix d(gpu.alloc<float>(rows * columns), rows, columns);
    gpu.tell(cutlass::gemm{.a = left.elements,
                           .b = lines.elements.transposed(),
                           .d = d,
                           .a_scales = left.scales,
                           .b_scales = lines.scales.transposed()});
    const auto got = gpu.download(d.memory()).get();
    if (!got) return std::fprintf(stderr, "scaled_product: %s\n", got.error().to_string().c_str()), 1;
    const double error = difference(*got, should);
    const std::int64_t bytes = (rows + columns) * (terms + terms / block * 4);
    std::printf("%18lld %18lld %7.2f %%  %s\n", static_cast<long long>(block), static_cast<long long>(bytes),
                100 * error, std::string(static_cast<std::size_t>(1000 * error), '#').c_str());
    right = right && error < 0.04;
  }
  std::printf("%18s %18lld\n", "float, none", static_cast<long long>((rows + columns) * terms * 4));
  return right ? 0 : 1;
}
