// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Factors, solutions and inverses of many complex systems, and products of half and bfloat16 compared with float.
#include <cmath>
#include <complex>
#include <cstdio>
#include <random>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;
using cplx = std::complex<double>;

constexpr int n = 7, batch = 30, elements = n * n;

task<result<int>> systems(device gpu) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<complex128> a(elements * batch), b(n * batch);
  for (complex128& v : a) v = cplx(numbers(random), numbers(random));
  for (complex128& v : b) v = cplx(numbers(random), numbers(random));
  for (int i = 0; i < elements; ++i) a[static_cast<std::size_t>(5 * elements + i)] = cplx(0, 0);  // one is singular

  auto da = gpu.alloc<complex128>(a.size()), dx = gpu.alloc<complex128>(b.size()), di = gpu.alloc<complex128>(a.size());
  auto pivots = gpu.alloc<std::int32_t>(n * batch), info = gpu.alloc<std::int32_t>(batch),
       info_inverse = gpu.alloc<std::int32_t>(batch);
  gpu.upload(da, a);
  gpu.upload(dx, b);
  std::vector<buffer<complex128>> as, xs, inverses;
  for (int i = 0; i < batch; ++i) {
    as.push_back(da.slice(i * elements, elements));
    xs.push_back(dx.slice(i * n, n));
    inverses.push_back(di.slice(i * elements, elements));
  }
  co_await gpu.ask(blas::getrf_batched<complex128>{.a = as, .pivots = pivots, .info = info, .n = n});
  co_await gpu.ask(blas::getrs_batched<complex128>{.a = as, .pivots = pivots, .b = xs, .n = n, .nrhs = 1});
  co_await gpu.ask(
      blas::getri_batched<complex128>{.a = as, .pivots = pivots, .c = inverses, .info = info_inverse, .n = n});

  const std::vector<std::int32_t> singular = co_await gpu.download(info);
  const std::vector<complex128> x = co_await gpu.download(dx), inverse = co_await gpu.download(di);
  int wrong = 0;
  for (int p = 0; p < batch; ++p) {
    wrong += (singular[static_cast<std::size_t>(p)] != 0) != (p == 5);
    if (p == 5) continue;
    const auto at = [&](const std::vector<complex128>& m, int i, int j) {
      return cplx(m[static_cast<std::size_t>(p * elements + i + j * n)]);
    };
    for (int i = 0; i < n; ++i) {
      cplx sum = 0;
      for (int k = 0; k < n; ++k) sum += at(a, i, k) * cplx(x[static_cast<std::size_t>(p * n + k)]);
      wrong += std::abs(sum - cplx(b[static_cast<std::size_t>(p * n + i)])) > 1e-10;
      for (int j = 0; j < n; ++j) {
        cplx unit = 0;
        for (int k = 0; k < n; ++k) unit += at(a, i, k) * at(inverse, k, j);
        wrong += std::abs(unit - cplx(i == j)) > 1e-9;
      }
    }
  }
  co_return wrong;
}

/// A product of T compared with the same in float: sums of small integers are exact in all of them.
template <class T>
task<result<int>> narrow(device gpu) {
  const int m = 33, columns = 20, k = 25;
  std::vector<T> a(m * k), b(k * columns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(static_cast<float>(i % 5) - 2);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(static_cast<float>(i % 3) - 1);
  auto da = gpu.alloc<T>(a.size()), db = gpu.alloc<T>(b.size()), dc = gpu.alloc<T>(m * columns);
  auto wide = gpu.alloc<float>(m * columns);
  gpu.upload(da, a);
  gpu.upload(db, b);
  co_await gpu.ask(blas::gemm<T>{.a = da, .b = db, .c = dc, .m = m, .n = columns, .k = k, .alpha = 2});
  co_await gpu.ask(blas::gemm<T, float>{.a = da, .b = db, .c = wide, .m = m, .n = columns, .k = k, .alpha = 0.1f});
  const std::vector<T> rounded = co_await gpu.download(dc);
  const std::vector<float> exact = co_await gpu.download(wide);
  int wrong = 0;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += float(a[static_cast<std::size_t>(i + l * m)]) * float(b[static_cast<std::size_t>(l + j * k)]);
      const auto place = static_cast<std::size_t>(i + j * m);
      wrong += float(rounded[place]) != 2 * sum || std::abs(exact[place] - 0.1f * sum) > 1e-5f;
    }
  co_return wrong;
}

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  int wrong = 0;
  for (auto answer : {sync_wait(systems(gpu)), sync_wait(narrow<half>(gpu)), sync_wait(narrow<bfloat16>(gpu))}) {
    if (!answer) return std::fprintf(stderr, "batched_lu: %s\n", answer.error().to_string().c_str()), 1;
    wrong += *answer;
  }
  std::printf("%d wrong values\n", wrong);
  return wrong == 0 ? 0 : 1;
}
