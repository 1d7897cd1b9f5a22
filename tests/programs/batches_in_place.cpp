// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// All batched requests in one coroutine, with their lists written in place.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr int n = 3, nn = n * n;
using numbers = std::vector<double>;

numbers square(int seed) {  // diagonally dominant
  numbers a(nn);
  for (int i = 0; i < nn; ++i)
    a[static_cast<std::size_t>(i)] = (i * 5 + seed * 3) % 7 - 3 + (i % (n + 1) == 0 ? 12 : 0);
  return a;
}
numbers times(const numbers& a, const numbers& b, int columns = n) {
  numbers c(static_cast<std::size_t>(n * columns));
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        c[static_cast<std::size_t>(i + j * n)] +=
            a[static_cast<std::size_t>(i + k * n)] * b[static_cast<std::size_t>(k + j * n)];
  return c;
}
int differs(const numbers& a, const numbers& b) {
  int wrong = a.size() != b.size();
  for (std::size_t i = 0; i < a.size() && wrong == 0; ++i) wrong += std::abs(a[i] - b[i]) > 1e-12 * 100;
  return wrong;
}
numbers unit() {
  numbers e(nn);
  for (std::size_t i = 0; i < n; ++i) e[i * (n + 1)] = 1;
  return e;
}

task<result<int>> all(device gpu) {
  int wrong = 0;
  const numbers p = square(1), q = square(2), vector{1, -2, 3}, other{4, 0, -1};
  auto a = gpu.alloc<double>(nn), b = gpu.alloc<double>(nn), c = gpu.alloc<double>(nn), d = gpu.alloc<double>(nn);
  auto x = gpu.alloc<double>(n), y = gpu.alloc<double>(n), z = gpu.alloc<double>(n), w = gpu.alloc<double>(n);
  auto pivots = gpu.alloc<std::int32_t>(2 * n), info = gpu.alloc<std::int32_t>(2);
  gpu.upload(a, p);
  gpu.upload(b, q);
  gpu.upload(x, vector);
  gpu.upload(y, other);

  co_await gpu.ask(blas::gemm_batched<double>{.a = {a, b}, .b = {b, a}, .c = {c, d}, .m = n, .n = n, .k = n});
  wrong += differs(co_await gpu.download(c), times(p, q)) + differs(co_await gpu.download(d), times(q, p));

  co_await gpu.ask(
      blas::gemm_grouped<double>{.a = {a, b},
                                 .b = {x, a},
                                 .c = {z, c},
                                 .groups = {{.m = n, .n = 1, .k = n}, {.m = n, .n = n, .k = n, .beta = 1}}});
  numbers sum = times(q, p);
  for (std::size_t i = 0; i < nn; ++i) sum[i] += times(p, q)[i];
  wrong += differs(co_await gpu.download(z), times(p, vector, 1)) + differs(co_await gpu.download(c), sum);

  co_await gpu.ask(blas::gemv_batched<double>{.a = {a, b}, .x = {x, y}, .y = {z, w}, .m = n, .n = n});
  wrong +=
      differs(co_await gpu.download(z), times(p, vector, 1)) + differs(co_await gpu.download(w), times(q, other, 1));

  // Factors, solutions, inverses. z and w become x and y again.
  co_await gpu.ask(blas::copy<double>{.x = a, .y = c, .n = nn});
  co_await gpu.ask(blas::copy<double>{.x = b, .y = d, .n = nn});
  co_await gpu.ask(blas::getrf_batched<double>{.a = {c, d}, .pivots = pivots, .info = info, .n = n});
  wrong += co_await gpu.download(info) != std::vector<std::int32_t>(2, 0);
  co_await gpu.ask(blas::getrs_batched<double>{.a = {c, d}, .pivots = pivots, .b = {z, w}, .n = n, .nrhs = 1});
  wrong += differs(co_await gpu.download(z), vector) + differs(co_await gpu.download(w), other);
  auto e = gpu.alloc<double>(nn), f = gpu.alloc<double>(nn);
  co_await gpu.ask(blas::getri_batched<double>{.a = {c, d}, .pivots = pivots, .c = {e, f}, .info = info, .n = n});
  wrong += differs(times(p, co_await gpu.download(e)), unit()) + differs(times(co_await gpu.download(f), q), unit());
  co_await gpu.ask(blas::matinv_batched<double>{.a = {b, a}, .c = {e, f}, .info = info, .n = n});
  wrong += differs(times(q, co_await gpu.download(e)), unit()) + differs(times(co_await gpu.download(f), p), unit());

  // Triangles: the upper halves of p and q, as they are stored.
  numbers upper_p = p, upper_q = q;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j + 1; i < n; ++i) upper_p[i + j * n] = upper_q[i + j * n] = 0;
  co_await gpu.upload(z, times(upper_p, vector, 1));
  co_await gpu.upload(w, times(upper_q, other, 1));
  co_await gpu.ask(blas::trsm_batched<double>{
      .a = {a, b}, .b = {z, w}, .m = n, .n = 1, .uplo = blas::triangle::upper, .diag = blas::diagonal::stored});
  wrong += differs(co_await gpu.download(z), vector) + differs(co_await gpu.download(w), other);

  // R'R = A'A for the result of a factorisation into Q and R.
  co_await gpu.copy(c, a);
  co_await gpu.copy(d, b);
  co_await gpu.ask(blas::geqrf_batched<double>{.a = {c, d}, .tau = {z, w}, .m = n, .n = n});
  const auto square = [](const numbers& m) {
    numbers t(nn);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) t[j + i * n] = m[i + j * n];
    return times(t, m);
  };
  for (const auto& [factored, whole] : {std::pair{c, p}, {d, q}}) {
    numbers r = co_await gpu.download(factored);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j + 1; i < n; ++i) r[i + j * n] = 0;
    wrong += differs(square(r), square(whole));
  }
  co_await gpu.copy(c, a);
  co_await gpu.copy(d, b);
  co_await gpu.upload(z, times(p, vector, 1));
  co_await gpu.upload(w, times(q, other, 1));
  co_await gpu.ask(blas::gels_batched<double>{.a = {c, d}, .c = {z, w}, .info = info, .m = n, .n = n, .nrhs = 1});
  wrong += differs(co_await gpu.download(z), vector) + differs(co_await gpu.download(w), other);
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(all(rt.open_device()));
  if (!wrong) return std::fprintf(stderr, "batches_in_place: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
