// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <utility>

using namespace troupe;

// The largest eigenvalue of the symmetric n by n matrix `a`, by power iteration.
result<double> largest_eigenvalue(const device& gpu, const buffer<double>& a, extent n) {
  auto x = gpu.alloc<double>(n), y = gpu.alloc<double>(n);
  gpu.fill(x, 0.0);
  gpu.fill(x.slice(0, 1), 1.0);
  double value = 0;
  for (int step = 0; step < 300; ++step) {
    gpu.tell(blas::gemv<double>{.a = a, .x = x, .y = y, .m = n, .n = n});
    result<double> squared = gpu.ask(blas::dot<double>{.x = y, .y = y, .n = n}).get();
    if (!squared) return squared.error();  // of this request, or of any it depends on
    value = std::sqrt(*squared);
    gpu.tell(blas::scal<double>{.x = y, .n = n, .alpha = 1 / value});
    std::swap(x, y);
  }
  return value;
}

int main() {
  runtime rt;
  device gpu = rt.open_device();

  // D takes the differences of neighbours: n + 1 rows, n columns, each with 1 and -1 in it.
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
  std::printf("the largest eigenvalue is %.12f, it should be %.12f\n", *value, known);

  // A shape that does not fit is refused, saying which field.
  auto refused = gpu.ask(blas::gemm<double>{.a = d, .b = d, .c = a, .m = n, .n = rows, .k = rows}).get();
  std::printf("%s\n", refused ? "?" : refused.error().text().c_str());
  return std::abs(*value - known) < 1e-9 && !refused ? 0 : 1;
}
