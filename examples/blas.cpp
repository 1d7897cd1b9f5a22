// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <cstdio>
#include <troupe/base/half.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <utility>

using namespace troupe;

// Returns the largest eigenvalue of the symmetric n by n matrix `a`, by power iteration.
result<double> largest_eigenvalue(const device& gpu, const buffer<double>& a, extent n) {
  auto x = gpu.alloc<double>(n), y = gpu.alloc<double>(n);
  gpu.fill(x, 0.0);
  gpu.fill(x.slice(0, 1), 1.0);
  double value = 0;
  for (int step = 0; step < 300; ++step) {
    gpu.tell(blas::symv<double>{.a = a, .x = x, .y = y, .n = n});
    result<double> norm = gpu.ask(blas::nrm2<double>{.x = y, .n = n}).get();
    if (!norm) return norm.error();  // of this request or of one it depends on
    value = *norm;
    gpu.tell(blas::scal<double>{.x = y, .n = n, .alpha = 1 / value});
    std::swap(x, y);
  }
  return value;
}

// Makes the n by n matrix `a` upper triangular by rotating pairs of its rows. Each rotation is computed from two
// elements of `a` and applied, all in the device's memory: nothing waits for an answer.
void triangularize(const device& gpu, const buffer<double>& a, std::int64_t n) {
  auto c = gpu.alloc<double>(1), s = gpu.alloc<double>(1);
  for (std::int64_t column = 0; column < n; ++column)
    for (std::int64_t row = column + 1; row < n; ++row) {
      const std::int64_t top = column + column * n, low = row + column * n;
      gpu.tell(blas::rotg<double>{.a = a.slice(top, 1), .b = a.slice(low, 1), .c = c, .s = s});
      gpu.tell(blas::rot<double>{
          .x = a.slice(top), .y = a.slice(low), .n = n - column, .c = c, .s = s, .incx = n, .incy = n});
    }
}

// Solves many small systems, A_i * x_i = b_i, with one request for all factors and one for all solutions. Each `b`
// becomes its `x`.
result<void> solve_all(const device& gpu, const std::vector<buffer<double>>& a, const std::vector<buffer<double>>& b,
                       extent n) {
  auto pivots = gpu.alloc<std::int32_t>(n * a.size()), info = gpu.alloc<std::int32_t>(a.size());
  gpu.tell(blas::getrf_batched<double>{.a = a, .pivots = pivots, .info = info, .n = n});
  gpu.tell(blas::getrs_batched<double>{.a = a, .pivots = pivots, .b = b, .n = n, .nrhs = 1});
  const auto singular = gpu.download(info).get();
  if (!singular) return singular.error();
  for (const std::int32_t i : *singular)
    if (i != 0) return error(reaction::caller_bug, "example", "a matrix is singular");
  return {};
}

// Returns the sum of |z|² over numbers that the program has as std::complex.
result<std::complex<double>> squared_norm(const device& gpu, const std::vector<std::complex<double>>& z) {
  const std::vector<complex128> ours(z.begin(), z.end());  // the types convert to each other
  auto x = gpu.alloc<complex128>(ours.size());
  gpu.upload(x, ours);
  const auto sum = gpu.ask(blas::dotc<complex128>{.x = x, .y = x, .n = x.size()}).get();
  if (!sum) return sum.error();
  // `real` and `imag` are members, not functions.
  if (!std::isfinite(sum->real)) return error(reaction::caller_bug, "example", "the squares are too large");
  return std::complex<double>(*sum);
}

// Returns the dot product of two vectors of half, summed in float: a product of 1 × k by k × 1.
result<float> dot_of_halves(const device& gpu, const std::vector<half>& x, const std::vector<half>& y) {
  auto a = gpu.alloc<half>(x.size()), b = gpu.alloc<half>(y.size());
  auto c = gpu.alloc<float>(1);
  gpu.upload(a, x);
  gpu.upload(b, y);
  gpu.tell(blas::gemm<half, float>{.a = a, .b = b, .c = c, .m = 1, .n = 1, .k = a.size()});
  const auto sum = gpu.download(c).get();
  if (!sum) return sum.error();
  return sum->front();
}

int main() {
  runtime rt;
  device gpu = rt.open_device();

  // D computes the differences of neighbours: n + 1 rows and n columns, with 1 and -1 in each.
  constexpr int n = 8, rows = n + 1;
  std::vector<double> differences(std::size_t{rows} * n);
  for (int j = 0; j < n; ++j) differences[j * rows + j] = 1, differences[j * rows + j + 1] = -1;

  auto d = gpu.alloc<double>(rows * n), a = gpu.alloc<double>(n * n);
  gpu.upload(d, differences);
  gpu.tell(blas::gemm<double>{
      .a = d, .b = d, .c = a, .m = n, .n = n, .k = rows, .trans_a = blas::op::transpose, .ldb = rows});
  auto value = largest_eigenvalue(gpu, a, n);
  if (!value) return std::fprintf(stderr, "%s\n", value.error().to_string().c_str()), 1;

  // The eigenvalues of D'D are known.
  const double known = 2 + 2 * std::cos(std::acos(-1.0) / (n + 1));
  std::printf("the largest eigenvalue is %.12f, expected %.12f\n", *value, known);

  // Systems with the matrix i * D'D, all with the right-hand side 1.
  std::vector<buffer<double>> systems, solutions;
  for (int i = 1; i <= 3; ++i) {
    systems.push_back(gpu.alloc<double>(n * n));
    solutions.push_back(gpu.alloc<double>(n));
    gpu.tell(blas::geam<double>{.a = a, .b = a, .c = systems.back(), .m = n, .n = n, .alpha = i, .beta = 0});
    gpu.fill(solutions.back(), 1.0);
  }
  if (auto solved = solve_all(gpu, systems, solutions, n); !solved)
    return std::fprintf(stderr, "%s\n", solved.error().to_string().c_str()), 1;
  const auto x = gpu.download(solutions.back()).get();
  std::printf("in the third system, x[0] is %.12f, expected %.12f\n", x.value()[0], n / 2.0 / 3);

  // The product of the diagonal is the determinant of D'D, n + 1, up to its sign.
  triangularize(gpu, a, n);
  const auto triangular = gpu.download(a).get();
  double determinant = 1;
  for (int i = 0; i < n; ++i) determinant *= triangular.value()[i * (n + 1)];
  std::printf("the determinant is %.12f, expected %d\n", std::abs(determinant), n + 1);

  const auto squares = squared_norm(gpu, {{3, 4}, {0, 2}});
  const auto halves = dot_of_halves(gpu, {half(0.5f), half(2)}, {half(4), half(0.25f)});
  if (!squares || *squares != 29.0 || !halves || *halves != 2.5f)
    return std::fprintf(stderr, "sums of complex numbers or halves are wrong\n"), 1;

  // A shape that does not fit is refused, and the error names the field.
  auto refused = gpu.ask(blas::gemm<double>{.a = d, .b = d, .c = a, .m = n, .n = rows, .k = rows}).get();
  std::printf("%s\n", refused ? "?" : refused.error().text().c_str());
  const bool right = std::abs(*value - known) < 1e-9 && std::abs(x.value()[0] - n / 6.0) < 1e-9 &&
                     std::abs(std::abs(determinant) - (n + 1)) < 1e-9;
  return right && !refused ? 0 : 1;
}
