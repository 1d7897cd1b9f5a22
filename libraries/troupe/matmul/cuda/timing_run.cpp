// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/matmul/cuda/status.hpp>
#include <troupe/matmul/cuda/timing_run.hpp>
#include <utility>

namespace troupe::matmul {
namespace {

constexpr std::uint64_t larger_than_any_cache = std::uint64_t{192} << 20;
constexpr double measurement_us = 8'000;  // duration of one measurement
constexpr int fewest = 5, most = 500;     // runs of one measurement

// Returns the bytes from the first element to the last.
std::uint64_t bytes_spanned(std::int64_t rows, std::int64_t columns, std::int64_t ld, std::int64_t stride,
                            std::int64_t batch, dtype type) noexcept {
  return static_cast<std::uint64_t>((batch - 1) * stride + (columns - 1) * ld + rows) * bytes_of(type);
}

result<cuda::event> make_event() {
  CUevent e = nullptr;
  TROUPE_TRY(cuda::done_on(nullptr, "matmul", "cuEventCreate", ::cuEventCreate(&e, CU_EVENT_DEFAULT)));
  return cuda::event(e);
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

timing_run::timing_run(std::vector<product_arguments> argument_sets, const number& alpha, const number& beta,
                       cuda::scratch arranged, cuda::scratch copies, cuda::event begin, cuda::event end) noexcept
    : argument_sets_(std::move(argument_sets)),
      alpha_(alpha),
      beta_(beta),
      numbers_in_memory_(argument_sets_.front().alpha != nullptr),
      arranged_(std::move(arranged)),
      copies_(std::move(copies)),
      begin_(std::move(begin)),
      end_(std::move(end)) {}

result<timing_run> timing_run::make(const call& c, const product_arguments& a, const number& alpha, const number& beta,
                                    const operand_bytes& e, cuda::scratch arranged) {
  const std::uint64_t padded_a = padded_bytes(e.a), padded_b = padded_bytes(e.b), padded_d = padded_bytes(e.d),
                      padded_others = padded_bytes(e.aux) + padded_bytes(e.bias) + 256,
                      each = padded_a + padded_b + padded_d + padded_others;
  const std::uint64_t count = std::clamp<std::uint64_t>((larger_than_any_cache + each - 1) / each, 1, 64);
  auto copies = TROUPE_TRY(cuda::scratch::make(c, "matmul", each * count));
  auto begin = TROUPE_TRY(make_event());
  auto end = TROUPE_TRY(make_event());
  const auto stream = static_cast<CUstream>(c.stream);
  std::vector<product_arguments> argument_sets;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t at = copies.address() + i * each;
    const auto next = [&at](std::uint64_t bytes) { return std::exchange(at, at + bytes); };
    product_arguments arguments = a;
    const auto copy = [&](const void*& operand, std::uint64_t bytes, std::uint64_t padded) -> result<void> {
      const std::uint64_t to = next(padded);
      TROUPE_TRY(cuda::done_on(stream, "matmul", "cuMemcpyDtoDAsync",
                               ::cuMemcpyDtoDAsync(to, reinterpret_cast<CUdeviceptr>(operand), bytes, stream)));
      operand = reinterpret_cast<const void*>(to);
      return {};
    };
    TROUPE_TRY(copy(arguments.a, e.a, padded_a));
    TROUPE_TRY(copy(arguments.b, e.b, padded_b));
    arguments.d = reinterpret_cast<void*>(next(padded_d));
    if (e.aux != 0) arguments.aux = reinterpret_cast<const void*>(next(padded_bytes(e.aux)));
    if (e.bias != 0) arguments.bias = reinterpret_cast<const void*>(next(padded_bytes(e.bias)));
    if (arguments.amax != nullptr) arguments.amax = reinterpret_cast<const void*>(next(256));
    argument_sets.push_back(arguments);
  }
  return timing_run(std::move(argument_sets), alpha, beta, std::move(arranged), std::move(copies), std::move(begin),
                    std::move(end));
}

result<double> timing_run::run(cublasLtHandle_t library, const product_plan& plan, int times, void* workspace,
                               CUstream stream) {
  const auto done = [stream](const char* call, CUresult s) { return cuda::done_on(stream, "matmul", call, s); };
  TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(begin_.get(), stream)));
  for (int i = 0; i < times; ++i)
    if (const cublasStatus_t s =
            plan.enqueue(library, argument_sets_[next_++ % argument_sets_.size()], workspace, stream);
        s != CUBLAS_STATUS_SUCCESS)
      return failed("cublasLtMatmul", s);
  TROUPE_TRY(done("cuEventRecord", ::cuEventRecord(end_.get(), stream)));
  TROUPE_TRY(done("cuEventSynchronize", ::cuEventSynchronize(end_.get())));
  float ms = 0;
  TROUPE_TRY(done("cuEventElapsedTime", ::cuEventElapsedTime(&ms, begin_.get(), end_.get())));
  return static_cast<double>(ms) * 1e3 / times;
}

result<double> timing_run::time(cublasLtHandle_t library, const product_plan& plan, void* workspace, CUstream stream) {
  for (product_arguments& a : argument_sets_)
    if (!numbers_in_memory_) a.alpha = &alpha_, a.beta = &beta_;
  TROUPE_TRY(run(library, plan, fewest, workspace, stream));
  const double about = TROUPE_TRY(run(library, plan, fewest, workspace, stream));
  const int times =
      about <= 0 ? most : static_cast<int>(std::clamp(measurement_us / about, double{fewest}, double{most}));
  return run(library, plan, times, workspace, stream);
}

}  // namespace troupe::matmul
