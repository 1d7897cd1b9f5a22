// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/matmul/cuda/status.hpp>
#include <troupe/matmul/cuda/timing_run.hpp>

namespace troupe::matmul {
namespace {

// Returns the bytes from the first element to the last.
std::uint64_t bytes_spanned(std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t stride,
                            std::int64_t batch, dtype type) noexcept {
  return static_cast<std::uint64_t>((batch - 1) * stride + (columns - 1) * ld + rows) * bytes_of(type);
}

// Returns the arguments `a` with copies of its operands at the address `at`.
result<product_arguments> copied(product_arguments a, const timing_run::operand_bytes& e, const cuda::timing_run& run,
                                 std::uint64_t at) {
  const auto move = [&](auto*& operand, std::uint64_t bytes, bool read) -> result<void> {
    auto address = reinterpret_cast<std::uint64_t>(operand);
    TROUPE_TRY(run.copy({&address, {0, static_cast<std::int64_t>(bytes)}, read}, at));
    operand = reinterpret_cast<std::remove_reference_t<decltype(operand)>>(address);
    return {};
  };
  TROUPE_TRY(move(a.a, e.a, true));
  TROUPE_TRY(move(a.b, e.b, true));
  TROUPE_TRY(move(a.d, e.d, false));
  if (e.aux != 0) TROUPE_TRY(move(a.aux, e.aux, false));
  if (e.bias != 0) TROUPE_TRY(move(a.bias, e.bias, false));
  if (a.amax != nullptr) TROUPE_TRY(move(a.amax, sizeof(float), false));
  return a;
}

}  // namespace

timing_run::operand_bytes timing_run::operand_bytes_of(const multiplication& r, const problem& p,
                                                       const execution_plan& plan, const fused_epilogue& f) noexcept {
  operand_bytes e;
  const auto factor = [&](const stored_matrix& m, bool copied, std::uint64_t bytes) {
    return copied ? bytes : bytes_spanned(m.rows, m.columns, m.ld, m.stride, p.batch, m.type);
  };
  e.a = factor(p.a, plan.copies_a, plan.bytes_a), e.b = factor(p.b, plan.copies_b, plan.bytes_b);
  e.d = plan.sums_in_workspace ? plan.bytes_sums
                               : bytes_spanned(p.d.rows, p.d.columns, p.d.ld, p.d.stride, p.batch, p.d.type);
  const auto operand = [&](operand_index i) -> const epilogue::memory_operand& {
    return r.epilogue.encoded().memory()[static_cast<std::size_t>(i)];
  };
  if (f.aux != none) {
    const auto& m = operand(f.aux);
    e.aux = bytes_spanned(p.d.rows, p.d.columns, p.column_stride_of(m.shape), m.batch_stride, p.batch, m.type);
  }
  if (f.bias_gradient != none) {
    e.bias =
        bytes_spanned(p.d.rows, 1, 0, operand(f.bias_gradient).batch_stride, p.batch, operand(f.bias_gradient).type);
  }
  return e;
}

timing_run::timing_run(cuda::timing_run run, copied_products products, const number& alpha, const number& beta,
                       cuda::scratch arranged) noexcept
    : run_(std::move(run)),
      products_(std::move(products)),
      alpha_(alpha),
      beta_(beta),
      numbers_in_memory_(products_.all().front().alpha != nullptr),
      arranged_(std::move(arranged)) {}

result<timing_run> timing_run::make(const call& c, const product_arguments& a, const number& alpha, const number& beta,
                                    const operand_bytes& e, cuda::scratch arranged) {
  auto run =
      TROUPE_TRY(cuda::timing_run::make(c, "matmul", {.average_us = 8'000, .fewest = 5, .most = 500, .averages = 1}));
  std::uint64_t each = 0;
  for (const std::uint64_t bytes : {e.a, e.b, e.d, e.aux, e.bias, std::uint64_t{sizeof(float)}})
    each += cuda::copy_bytes(bytes);
  auto products = TROUPE_TRY(copied_products::make(run, each, [&](std::uint64_t at) { return copied(a, e, run, at); }));
  return timing_run(std::move(run), std::move(products), alpha, beta, std::move(arranged));
}

result<double> timing_run::time(cublasLtHandle_t library, const product_plan& plan, void* workspace, CUstream stream) {
  for (product_arguments& a : products_.all())
    if (!numbers_in_memory_) a.alpha = &alpha_, a.beta = &beta_;
  return run_.time([&](int times) -> result<void> {
    for (int i = 0; i < times; ++i)
      if (const cublasStatus_t s = plan.enqueue(library, products_.next(), workspace, stream);
          s != CUBLAS_STATUS_SUCCESS)
        return failed("cublasLtMatmul", s);
    return {};
  });
}

}  // namespace troupe::matmul
