// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "source.hpp"

namespace troupe::foreign {

namespace {

using matrix = std::vector<double>;

/// Returns the product of an m x k and a k x n matrix, row-major.
template <class A, class B>
matrix product(int m, int n, int k, const std::vector<A>& a, const std::vector<B>& b) {
  matrix out(m * n);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) out[i * n + j] += double{a[i * k + l]} * b[l * n + j];
  return out;
}
template <class A>
std::vector<A> transposed(int rows, int columns, const std::vector<A>& a) {
  std::vector<A> out(a.size());
  for (int i = 0; i < rows * columns; ++i) out[i % columns * rows + i / columns] = a[i];
  return out;
}

/// Covariances of the columns, not divided by the number of rows.
template <class A>
matrix covariances(int rows, int columns, const std::vector<A>& a) {
  matrix centred(a.begin(), a.end());
  for (int j = 0; j < columns; ++j) {
    double mean = 0;
    for (int i = 0; i < rows; ++i) mean += centred[i * columns + j] / rows;
    for (int i = 0; i < rows; ++i) centred[i * columns + j] -= mean;
  }
  return product(columns, columns, rows, transposed(rows, columns, centred), centred);
}

/// One thread per element of rows x columns.
shape plane(int rows, int columns) { return {{blocks(columns, 32), blocks(rows, 8)}, {32, 8}}; }

}  // namespace

FOREIGN_SOURCE(polybench, adi) {
  const int n = 40;
  const auto a = doubles(n * n, 0.1, 0.5);
  auto b = doubles(n * n, 2, 3), x = doubles(n * n);
  // A sweep solves a tridiagonal system for each line; `next` is the distance between its elements.
  auto expected_b = b, expected_x = x;
  const auto sweep = [&](int line, int next) {
    double *const bb = &expected_b[line], *const xx = &expected_x[line];
    const double* const aa = &a[line];
    for (int i = next; i < n * next; i += next) {
      xx[i] -= xx[i - next] * aa[i] / bb[i - next];
      bb[i] -= aa[i] * aa[i] / bb[i - next];
    }
    xx[(n - 1) * next] /= bb[(n - 1) * next];
    for (int i = (n - 2) * next; i >= 0; i -= next) xx[i] = (xx[i] - xx[i + next] * aa[i + next]) / bb[i];
  };
  for (int i = 0; i < n; ++i) sweep(i * n, 1);
  for (int i = 0; i < n; ++i) sweep(i, n);

  const shape threads{blocks(n, 32), 32};
  launch("adi_kernel1", threads, n, a, b, x);
  for (int i = 1; i < n; ++i) launch("adi_kernel2", threads, n, a, b, x, i);
  launch("adi_kernel3", threads, n, a, b, x);
  for (int i = n - 2; i >= 0; --i) launch("adi_kernel4", threads, n, a, b, x, i);
  expect_near("B", b, expected_b, 1e-12);
  expect_near("X", x, expected_x, 1e-12);
}

FOREIGN_SOURCE(polybench, atax) {
  const int nx = 96, ny = 130;
  const auto a = floats(nx * ny), x = floats(ny);
  const auto expected = product(ny, 1, nx, transposed(nx, ny, a), product(nx, 1, ny, a, x));
  std::vector<float> tmp(nx), y(ny);
  launch("atax_kernel1", {blocks(nx, 256), 256}, a, x, tmp);
  launch("atax_kernel2", {blocks(ny, 256), 256}, a, y, tmp);
  expect_near("y", y, expected, 1e-5);
}

FOREIGN_SOURCE(polybench, bicg) {
  const int nx = 70, ny = 90;
  const auto a = floats(nx * ny), r = floats(nx), p = floats(ny);
  std::vector<float> s(ny), q(nx);
  launch("bicg_kernel1", {blocks(ny, 256), 256}, nx, ny, a, r, s);
  launch("bicg_kernel2", {blocks(nx, 256), 256}, nx, ny, a, p, q);
  expect_near("s", s, product(ny, 1, nx, transposed(nx, ny, a), r), 1e-5);
  expect_near("q", q, product(nx, 1, ny, a, p), 1e-5);
}

FOREIGN_SOURCE(polybench, correlation) {
  const int m = 30, n = 50;
  auto data = floats(n * m, 0, 10);
  auto expected = covariances(n, m, data);
  std::vector<double> deviation(m);
  for (int j = 0; j < m; ++j) deviation[j] = std::sqrt(expected[j * m + j]);
  for (int i = 0; i < m * m; ++i) expected[i] /= deviation[i / m] * deviation[i % m];
  std::vector<float> mean(m), standard(m), symmat(m * m);
  launch("mean_kernel", {1, 256}, m, n, mean, data);
  launch("std_kernel", {1, 256}, m, n, mean, standard, data);
  launch("reduce_kernel", plane(n, m), m, n, mean, standard, data);
  launch("corr_kernel", {1, 256}, m, n, symmat, data);
  expect_near("correlations", symmat, expected, 1e-5);
}

FOREIGN_SOURCE(polybench, covariance) {
  const int m = 30, n = 50;
  auto data = doubles(n * m, 0, 10);
  const auto expected = covariances(n, m, data);
  std::vector<double> mean(m), symmat(m * m);
  launch("mean_kernel", {1, 256}, mean, data);
  std::vector<std::array<double, m>> rows(n);
  std::memcpy(rows.data(), data.data(), n * m * sizeof(double));
  launch("reduce_kernel", plane(n, m), mean, rows);
  std::memcpy(data.data(), rows.data(), n * m * sizeof(double));
  launch("covar_kernel", {1, 256}, symmat, data);
  expect_near("covariances", symmat, expected, 1e-12);
}

FOREIGN_SOURCE(polybench, fdtd2d) {
  const int nx = 40, ny = 56, steps = 5;
  const auto source = floats(steps);
  auto ex = floats(nx * (ny + 1)), ey = floats((nx + 1) * ny), hz = floats(nx * ny);
  matrix e_x(ex.begin(), ex.end()), e_y(ey.begin(), ey.end()), h_z(hz.begin(), hz.end());
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < nx; ++i)
      for (int j = 0; j < ny; ++j) {
        double& y = e_y[i * ny + j];
        y = i == 0 ? source[t] : y - 0.5 * (h_z[i * ny + j] - h_z[(i - 1) * ny + j]);
        if (j > 0) e_x[i * (ny + 1) + j] -= 0.5 * (h_z[i * ny + j] - h_z[i * ny + j - 1]);
      }
    for (int i = 0; i < nx - 1; ++i)
      for (int j = 0; j < ny - 1; ++j)
        h_z[i * ny + j] -=
            0.7 * (e_x[i * (ny + 1) + j + 1] - e_x[i * (ny + 1) + j] + e_y[(i + 1) * ny + j] - e_y[i * ny + j]);
    launch("fdtd_step1_kernel", plane(nx, ny), source, ex, ey, hz, t);
    launch("fdtd_step2_kernel", plane(nx, ny), ex, ey, hz, t);
    launch("fdtd_step3_kernel", plane(nx, ny), ex, ey, hz, t);
  }
  expect_near("ex", ex, e_x, 1e-5);
  expect_near("ey", ey, e_y, 1e-5);
  expect_near("hz", hz, h_z, 1e-5);
}

FOREIGN_SOURCE(polybench, gemver, .globals = {"ALPHA_BETA"}) {
  const int n = 60;
  const float alpha = 1.5f, beta = -0.7f;
  auto a = floats(n * n);
  const auto u1 = floats(n), u2 = floats(n), v1 = floats(n), v2 = floats(n), y = floats(n), z = floats(n);
  matrix updated(a.begin(), a.end());
  for (int i = 0; i < n * n; ++i) updated[i] += double{u1[i / n]} * v1[i % n] + double{u2[i / n]} * v2[i % n];
  auto expected_x = product(n, 1, n, transposed(n, n, updated), y);
  for (int i = 0; i < n; ++i) expected_x[i] = beta * expected_x[i] + z[i];
  auto expected_w = product(n, 1, n, updated, expected_x);
  for (double& v : expected_w) v *= alpha;
  write_global("ALPHA_BETA", std::vector{alpha, beta});
  std::vector<float> x(n), w(n);
  launch("gemver_kernel1", plane(n, n), n, a, v1, v2, u1, u2);
  launch("gemver_kernel2", {blocks(n, 256), 256}, n, a, x, y, z);
  launch("gemver_kernel3", {blocks(n, 256), 256}, n, a, x, w);
  expect_near("A", a, updated, 1e-6);
  expect_near("x", x, expected_x, 1e-5);
  expect_near("w", w, expected_w, 1e-5);
}

FOREIGN_SOURCE(polybench, gesummv, .kernels = {"gesummv_kernel<float>", "gesummv_kernel<double>"}) {
  const int n = 75;
  const auto a = doubles(n * n), b = doubles(n * n), x = doubles(n);
  const auto ax = product(n, 1, n, a, x), bx = product(n, 1, n, b, x);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 0.5 * ax[i] - 3 * bx[i];
  std::vector<double> tmp(n), y(n);
  launch("gesummv_kernel<double>", {blocks(n, 256), 256}, n, 0.5, -3.0, a, b, tmp, x, y);
  expect_near("y in double", y, expected, 1e-12);
  std::vector<float> af(a.begin(), a.end()), bf(b.begin(), b.end()), xf(x.begin(), x.end()), tmpf(n), yf(n);
  launch("gesummv_kernel<float>", {blocks(n, 256), 256}, n, 0.5f, -3.0f, af, bf, tmpf, xf, yf);
  expect_near("y in float", yf, expected, 1e-5);
}

FOREIGN_SOURCE(polybench, gramschmidt) {
  const int ni = 64, nj = 24;
  const auto original = floats(ni * nj);
  auto a = original;
  std::vector<float> q(ni * nj), r(nj * nj);
  for (int k = 0; k < nj; ++k) {
    launch("gramschmidt_kernel1", {1, 256}, ni, nj, a, r, q, k);
    launch("gramschmidt_kernel2", {blocks(ni, 32), 32}, ni, nj, a, r, q, k);
    launch("gramschmidt_kernel3", {blocks(nj, 32), 32}, ni, nj, a, r, q, k);
  }
  // Q has orthonormal columns, R is triangular, and Q R is A again.
  matrix identity(nj * nj);
  for (int j = 0; j < nj; ++j) identity[j * nj + j] = 1;
  for (int i = 0; i < nj * nj; ++i)
    if (i / nj > i % nj && r[i] != 0) throw failure{.wrong = true, .text = "R is not triangular"};
  expect_near("Q R", product(ni, nj, nj, q, r), original, 1e-5);
  expect_near("the transpose of Q times Q", product(nj, nj, ni, transposed(ni, nj, q), q), identity, 1e-4);
}

FOREIGN_SOURCE(polybench, jacobi2d) {
  const int n = 50, steps = 4;
  auto a = doubles(n * n);
  auto b = a, expected = a;
  for (int t = 0; t < steps; ++t) {
    auto next = expected;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        const double* at = &expected[i * n + j];
        next[i * n + j] = (at[0] + at[-1] + at[1] + at[-n] + at[n]) / 5;
      }
    expected = next;
    launch("runJacobiCUDA_kernel1", plane(n, n), n, a, b);
    launch("runJacobiCUDA_kernel2", plane(n, n), n, a, b);
  }
  expect_near("A", a, expected, 1e-13);
}

FOREIGN_SOURCE(polybench, mvt) {
  const int n = 88;
  const auto a = floats(n * n), y1 = floats(n), y2 = floats(n);
  auto x1 = floats(n), x2 = floats(n);
  auto expected1 = product(n, 1, n, a, y1), expected2 = product(n, 1, n, transposed(n, n, a), y2);
  for (int i = 0; i < n; ++i) {
    expected1[i] += x1[i];
    expected2[i] += x2[i];
  }
  launch("mvt_kernel1", {blocks(n, 256), 256}, n, a, x1, y1);
  launch("mvt_kernel2", {blocks(n, 256), 256}, n, a, x2, y2);
  expect_near("x1", x1, expected1, 1e-5);
  expect_near("x2", x2, expected2, 1e-5);
}

FOREIGN_SOURCE(polybench, syr2k) {
  const int ni = 50, nj = 36;
  const auto a = doubles(ni * nj), b = doubles(ni * nj);
  auto c = doubles(ni * ni);
  const auto ab = product(ni, ni, nj, a, transposed(ni, nj, b)), ba = product(ni, ni, nj, b, transposed(ni, nj, a));
  matrix expected(ni * ni);
  for (int i = 0; i < ni * ni; ++i) expected[i] = 0.3 * (ab[i] + ba[i]) - 2 * c[i];
  launch("syr2k_kernel", {{blocks(ni, 16), blocks(ni, 16)}, {16, 16}}, ni, nj, 0.3, -2.0, a, b, c);
  expect_near("C", c, expected, 1e-12);
}

FOREIGN_SOURCE(polybench, syrk) {
  const int n = 50, m = 36;
  const auto a = floats(n * m);
  auto c = floats(n * n);
  auto expected = product(n, n, m, a, transposed(n, m, a));
  for (int i = 0; i < n * n; ++i) expected[i] = 12435 * expected[i] + 4546 * double{c[i]};
  launch("syrk_kernel", plane(n, n), a, c, n, m);
  expect_near("C", c, expected, 1e-5);
}

FOREIGN_SOURCE(polybench, three_mm) {
  const int ni = 30, nj = 20, nk = 25, nl = 28, nm = 15;
  const auto a = doubles(ni * nk), b = doubles(nk * nj), c = doubles(nj * nm), d = doubles(nm * nl);
  const auto expected = product(ni, nl, nj, product(ni, nj, nk, a, b), product(nj, nl, nm, c, d));
  matrix ab(ni * nj), cd(nj * nl), g(ni * nl);
  launch("mm3_kernel", plane(ni, nj), ni, nj, nk, a, b, ab);
  launch("mm3_kernel", plane(nj, nl), nj, nl, nm, c, d, cd);
  launch("mm3_kernel", plane(ni, nl), ni, nl, nj, ab, cd, g);
  expect_near("G", g, expected, 1e-12);
}

FOREIGN_SOURCE(polybench, two_mm) {
  const int ni = 40, nj = 48, nk = 36, nl = 44;
  const auto a = floats(ni * nk), b = floats(nk * nj), d = floats(nj * nl);
  std::vector<float> c(ni * nj), e(ni * nl);
  launch("mm2_kernel1", plane(ni, nj), a, b, c);
  launch("mm2_kernel2", plane(ni, nl), c, d, e);
  expect_near("E", e, product(ni, nl, nj, product(ni, nj, nk, a, b), d), 1e-5);
}

}  // namespace troupe::foreign
