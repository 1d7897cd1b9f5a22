// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <apps/demo/network.hpp>
#include <cmath>
#include <random>
#include <troupe/blas/blas.hpp>

namespace demo {

using namespace troupe;

namespace {

matrix random_matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  matrix m(static_cast<std::size_t>(rows * columns));
  for (float& v : m) v = value(random);
  return m;
}

// In double precision, straight from the definition.
std::vector<double> product(const matrix& a, const matrix& b, std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<double> c(static_cast<std::size_t>(m * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t i = 0; i < m; ++i) c[i + j * m] += double{a[i + l * m]} * double{b[l + j * k]};
  return c;
}

}  // namespace

network::network(const device& gpu, std::uint64_t seed)
    : gpu_(gpu),
      first_(gpu.alloc<float>(shape::hidden * shape::inputs)),
      second_(gpu.alloc<float>(shape::outputs * shape::hidden)) {
  const matrix first = random_matrix(shape::hidden, shape::inputs, seed),
               second = random_matrix(shape::outputs, shape::hidden, seed + 1);
  gpu_.upload(first_, first);
  gpu_.upload(second_, second);
  both_ = product(second, first, shape::outputs, shape::inputs, shape::hidden);
}

pending<matrix> network::ask(matrix inputs) const {
  const auto x = gpu_.alloc<float>(shape::inputs * shape::batch), h = gpu_.alloc<float>(shape::hidden * shape::batch),
             y = gpu_.alloc<float>(shape::outputs * shape::batch);
  gpu_.upload(x, inputs);
  gpu_.tell(blas::gemm<float>{.a = first_, .b = x, .c = h, .m = shape::hidden, .n = shape::batch, .k = shape::inputs});
  gpu_.tell(
      blas::gemm<float>{.a = second_, .b = h, .c = y, .m = shape::outputs, .n = shape::batch, .k = shape::hidden});
  return gpu_.download(y);
}

task<result<matrix>> network::infer(std::shared_ptr<const network> self, matrix inputs) {
  co_return co_await self->ask(std::move(inputs));
}

bool network::right(const matrix& inputs, const matrix& answers) const {
  if (answers.size() != shape::outputs * shape::batch) return false;
  std::vector<double> sum(shape::outputs), magnitude(shape::outputs);
  for (std::int64_t j = 0; j < shape::batch; ++j) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::int64_t l = 0; l < shape::inputs; ++l)
      for (std::int64_t i = 0; i < shape::outputs; ++i)
        sum[i] += both_[i + l * shape::outputs] * double{inputs[l + j * shape::inputs]};
    // Sums of 512 and 256 products of numbers below 1: single precision errs by less than 1e-2.
    for (std::int64_t i = 0; i < shape::outputs; ++i)
      if (!(std::abs(double{answers[i + j * shape::outputs]} - sum[i]) < 1e-2)) return false;
  }
  return true;
}

matrix inputs_for(int client, std::uint64_t number) {
  return random_matrix(shape::inputs, shape::batch, (static_cast<std::uint64_t>(client) << 40) + number);
}

}  // namespace demo
