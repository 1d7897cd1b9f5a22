// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of matmul through the worker: compared with the same call of OpenBLAS in this process, and with an epilogue
// compared with without one.
#include <bench/host/direct.hpp>
#include <bench/host/openblas.hpp>
#include <bench/measures.hpp>
#include <troupe/matmul/matmul.hpp>

namespace troupe::bench {
namespace {

using epilogue::acc;

constexpr int n = 1024, times = 4;
constexpr double work = 2. * n * n * n;

struct operands {
  explicit operands(const settings& s)
      : gpu(s, {.libraries = {"matmul"}}),
        x(random_values<float>(n * n, 1)),
        y(random_values<float>(n * n, 2)),
        a(uploaded(gpu, x)),
        b(uploaded(gpu, y)),
        c(gpu->alloc<float>(n * n)),
        bias(uploaded(gpu, random_values<float>(n, 3))) {}
  // Stored column by column, as for the call of OpenBLAS.
  matmul::multiplication product(const epilogue::expression& e) const {
    return {.a = matrix(a, n, n).transposed(),
            .b = matrix(b, n, n).transposed(),
            .d = matrix(c, n, n).transposed(),
            .epilogue = e};
  }
  const device_under_test gpu;
  const std::vector<float> x, y;
  const buffer<float> a, b, c, bias;
};

template <bool Gelu>
figures with_epilogue(const settings& s) {
  const operands o(s);
  const epilogue::expression x = acc + epilogue::row(o.bias);
  const matmul::multiplication fused = o.product(Gelu ? gelu(x) : relu(x)), bare = o.product(acc);
  return against(s, o.gpu, 15, times, work, fused, [&] { o.gpu->ask(bare).get().value(); });
}

}  // namespace

figures run_matmul_f32(const settings& s) {
  const openblas bare;
  const operands o(s);
  std::vector<float> z(n * n);
  figures f = against(s, o.gpu, 15, times, work, o.product(acc),
                      [&] { bare.gemm(false, false, n, o.x.data(), o.y.data(), z.data()); });
  f.objection = difference(o.gpu->download(o.c).get().value(), z, 1e-2);
  return f;
}

figures run_matmul_bias_relu(const settings& s) { return with_epilogue<false>(s); }
figures run_matmul_bias_gelu(const settings& s) { return with_epilogue<true>(s); }

}  // namespace troupe::bench
