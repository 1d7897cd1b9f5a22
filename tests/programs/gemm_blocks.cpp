// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of blocks of larger matrices, transposed or not, with factors, compared with three plain loops.
#include <cmath>
#include <cstdio>
#include <random>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

struct dense {
  int rows, columns;
  std::vector<double> values;
  double at(int i, int j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

dense random_dense(int rows, int columns, std::mt19937& random) {
  dense out{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
  std::uniform_real_distribution<double> numbers(-1, 1);
  for (double& v : out.values) v = numbers(random);
  return out;
}

struct product {
  int m, n, k;
  int row_a, column_a, row_b, column_b, row_c, column_c;  // where the blocks begin
  bool flip_a, flip_b;
  double alpha, beta;
};

void plain(const product& p, const dense& a, const dense& b, dense& c) {
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < p.m; ++i) {
      double sum = 0;
      for (int l = 0; l < p.k; ++l) {
        const double x = p.flip_a ? a.at(p.row_a + l, p.column_a + i) : a.at(p.row_a + i, p.column_a + l);
        const double y = p.flip_b ? b.at(p.row_b + j, p.column_b + l) : b.at(p.row_b + l, p.column_b + j);
        sum += x * y;
      }
      double& out = c.values[static_cast<std::size_t>(p.row_c + i + (p.column_c + j) * c.rows)];
      out = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * out);
    }
}

task<result<std::vector<double>>> on_device(device gpu, product p, dense a, dense b, dense c) {
  auto da = gpu.alloc<double>(a.values.size()), db = gpu.alloc<double>(b.values.size());
  auto dc = gpu.alloc<double>(c.values.size());
  gpu.upload(da, a.values);
  gpu.upload(db, b.values);
  gpu.upload(dc, c.values);
  co_await gpu.ask(blas::gemm<double>{.a = da.slice(p.row_a + p.column_a * a.rows),
                                      .b = db.slice(p.row_b + p.column_b * b.rows),
                                      .c = dc.slice(p.row_c + p.column_c * c.rows),
                                      .m = p.m,
                                      .n = p.n,
                                      .k = p.k,
                                      .trans_a = p.flip_a ? blas::op::transpose : blas::op::none,
                                      .trans_b = p.flip_b ? blas::op::transpose : blas::op::none,
                                      .alpha = p.alpha,
                                      .beta = p.beta,
                                      .lda = a.rows,
                                      .ldb = b.rows,
                                      .ldc = c.rows});
  co_return co_await gpu.download(dc);
}

int main() {
  runtime rt;
  const device gpu = rt.open_device({.libraries = {"blas"}});
  std::mt19937 random(7);
  int wrong = 0, cases = 0;
  for (const int size : {3, 17, 48, 90})
    for (const bool flip_a : {false, true})
      for (const bool flip_b : {false, true})
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, 1.0}, {-0.5, 0.25}, {0.0, 3.0}}) {
          const product p{.m = size,
                          .n = size - 1,
                          .k = size + 2,
                          .row_a = 1,
                          .column_a = 2,
                          .row_b = 3,
                          .column_b = 1,
                          .row_c = 2,
                          .column_c = 4,
                          .flip_a = flip_a,
                          .flip_b = flip_b,
                          .alpha = alpha,
                          .beta = beta};
          const dense a = random_dense(size + 9, size + 8, random), b = random_dense(size + 7, size + 9, random);
          dense c = random_dense(size + 5, size + 6, random);
          const auto got = sync_wait(on_device(gpu, p, a, b, c));
          if (!got) return std::fprintf(stderr, "gemm_blocks: %s\n", got.error().to_string().c_str()), 1;
          plain(p, a, b, c);
          for (std::size_t i = 0; i < c.values.size(); ++i) wrong += std::abs((*got)[i] - c.values[i]) > 1e-11;
          ++cases;
        }
  std::printf("%d products, %d wrong elements\n", cases, wrong);
  return wrong == 0 ? 0 : 1;
}
