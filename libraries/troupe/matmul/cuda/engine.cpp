// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/cuda/default_stream.hpp>
#include <troupe/matmul/cuda/engine.hpp>
#include <troupe/matmul/cuda/kernel_arguments.hpp>
#include <troupe/matmul/cuda/status.hpp>
#include <troupe/matmul/cuda/timing_run.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::matmul {
namespace {

using cuda::kernel, epilogue::tree, epilogue::memory_operand;

const void* address_of(operand_index i, const tree& t) noexcept {
  return i == none ? nullptr : reinterpret_cast<const void*>(t.memory()[static_cast<std::size_t>(i)].address);
}

// Returns the fused epilogue with the numbers of this request. In the plan's fused epilogue, all numbers are 1.
fused_epilogue epilogue_of(const multiplication& r, const problem& p, const execution_plan& plan) {
  return plan.fused ? match(r.epilogue.encoded(), p, plan.sums).epilogue : fused_epilogue{};
}

product_arguments arguments_of(const fused_epilogue& f, const tree& t) noexcept {
  const auto first_of = [&t](operand_index one, operand_index other) {
    return address_of(one != none ? one : other, t);
  };
  product_arguments a{};
  a.c = address_of(f.c, t);
  a.bias = first_of(f.bias, f.bias_gradient);
  a.aux = first_of(f.aux, f.derivative_at);
  a.a_scale = first_of(f.a_scale, f.row_scales), a.b_scale = first_of(f.b_scale, f.column_scales);
  a.d_scale = address_of(f.d_scale, t), a.amax = address_of(f.amax, t);
  return a;
}

// Returns an address where the GPU can read a number: the operand's, or that of a copy of the number by value.
result<const void*> number_for_gpu(const number& by_value, operand_index in_memory, const tree& t, lane& on) {
  if (in_memory != none) return address_of(in_memory, t);
  std::byte* const to = TROUPE_TRY(on.memory().claim(sizeof by_value));
  std::memcpy(to, &by_value, sizeof by_value);
  return static_cast<const void*>(to);
}

cuda::grid tiles(std::int64_t length, std::int64_t lines, std::int64_t count) noexcept {
  constexpr std::int64_t tile = 32, most = 65535;
  return {cuda::at_most((length + tile - 1) / tile, 0x7fffffff), cuda::at_most((lines + tile - 1) / tile, most),
          cuda::at_most(count, most)};
}

// Searches for an algorithm once, because the first search of a process takes cuBLASLt a tenth of a second.
void warm_up(cublasLtHandle_t library) {
  constexpr std::int64_t n = 256;
  const product_spec::matrix any{CUDA_R_16BF, n, n, n, 0, 256};
  product_spec s{};
  s.a = s.b = s.c = s.d = any;
  s.transpose_a = 1, s.batch = 1;
  s.compute = CUBLAS_COMPUTE_32F, s.scale = CUDA_R_32F, s.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  (void)product_plan::search(library, s, 1);
}

}  // namespace

result<std::unique_ptr<cublaslt>> cublaslt::make(const engine_context& context) {
  auto kernels = TROUPE_TRY(load_kernels());
  cublasLtHandle_t handle = nullptr;
  if (const cublasStatus_t s = ::cublasLtCreate(&handle); s != CUBLAS_STATUS_SUCCESS)
    return failed("cublasLtCreate", s);
  library owned(handle);
  warm_up(owned.get());
  TROUPE_TRY(cuda::await_default_stream("matmul"));
  auto lanes = TROUPE_TRY(cuda::per_lane<lane>::make(context.lanes));
  const std::size_t version = ::cublasLtGetVersion();
  auto on = TROUPE_TRY(cuda::gpu_properties::of(context.device, "matmul"));
  on.name += cat(", cuBLASLt ", version);
  std::unique_ptr<cublaslt> out(
      new cublaslt(std::move(owned), std::move(kernels), std::move(lanes), std::move(on), context));
  out->version_ = cat("cuBLASLt ", version / 10000, ".", version / 100 % 100, ".", version % 100);
  return out;
}

std::string cublaslt::notes() const {
  return cat("plans: ", plans_.count().plans, "\nworkspace: ", lane::workspace_bytes >> 20, " MiB for each lane\n",
             plan::notes_of(kept_.disk()));
}

template <class A>
result<void> cublaslt::launch(cuda::kernel_id which, cuda::grid blocks, cuda::grid threads, CUstream stream,
                              const A& arguments) const {
  return cuda::launch(kernels_, which, blocks, threads, stream, "matmul", arguments);
}

result<const std::shared_ptr<const execution_plan>*> cublaslt::execution_plan_of(const multiplication& r,
                                                                                 const problem& p, lane& on) {
  write_key(on.recent.key(), r, p);
  return on.recent.get(plans_, [&] {
    const selection_options how{.kept = kept_};
    return find_execution_plan(library_.get(), {r, p}, gpu_, how);
  });
}

result<outcome> cublaslt::run(const multiplication& r, call& c) {
  const tree& t = r.epilogue.encoded();
  if (t.empty()) return damaged("matmul", "matmul.multiplication: the epilogue");
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const problem p = problem_of(r);
  const auto& plan = *TROUPE_TRY(execution_plan_of(r, p, *on));
  const outcome done{.fused = plan->fused || !plan->multiplies};
  if (plan->small) {
    TROUPE_TRY(multiply_small(r, p, *plan, nullptr, 1, on->stream()));
    return done;
  }
  std::optional<cuda::scratch> scratch;
  if (plan->scratch_bytes() != 0) {
    auto made = TROUPE_TRY(cuda::scratch::make(c, "matmul", plan->scratch_bytes()));
    scratch.emplace(std::move(made));
  }
  const std::uint64_t memory = scratch ? scratch->address() : 0;
  if (plan->multiplies) TROUPE_TRY(multiply(r, p, *plan, memory, *on, c));
  if (plan->pass) {
    const std::uint64_t sums = plan->sums_in_workspace ? memory + plan->offset_sums() : p.d.address;
    TROUPE_TRY(
        plan->pass->enqueue(t, {sums, p.d.address, memory + plan->offset_partial()},
                            [&](cuda::kernel_id which, cuda::grid blocks, cuda::grid threads, const auto& arguments) {
                              return launch(which, blocks, threads, on->stream(), arguments);
                            }));
  }
  return done;
}

// -- small products

result<void> cublaslt::multiply_small(const multiplication& r, const problem& p, const execution_plan& plan,
                                      const std::uint64_t* addresses, std::size_t count, CUstream stream) const {
  const auto factor = [](const stored_matrix& m, bool k_along_rows) {
    return kernel_arguments::factor{m.address, static_cast<std::uint64_t>(m.type), k_along_rows ? m.ld : 1,
                                    k_along_rows ? 1 : m.ld};
  };
  const kernel_arguments::small_products all{
      .epilogue = plan.pass->arguments_for(r.epilogue.encoded(), {0, p.d.address, 0}),
      .a = factor(p.a, p.a.transposed),
      .b = factor(p.b, !p.b.transposed),
      .k = p.k,
      .addresses = addresses,
      .operands = r.epilogue.encoded().memory().size()};
  constexpr std::int64_t tile = 32;
  const cuda::grid blocks{static_cast<unsigned>(count),
                          static_cast<unsigned>((p.m + tile - 1) / tile * ((p.n + tile - 1) / tile)), 1};
  const cuda::kernel_id which = plan.sums == dtype::f32    ? kernel<"small", float>
                                : plan.sums == dtype::c64  ? kernel<"small", complex64>
                                : plan.sums == dtype::c128 ? kernel<"small", complex128>
                                                           : kernel<"small", double>;
  return launch(which, blocks, {32, 8, 1}, stream, all);
}

result<void> cublaslt::run_group(const group<multiplication>& all, call& c) {
  lane* const on = TROUPE_TRY(lanes_.of(c));
  const multiplication first = all[0];
  const problem p = problem_of(first);
  const auto& plan = *TROUPE_TRY(execution_plan_of(first, p, *on));
  // Requests that need separate launches are refused: if one failed after others had written, all would run again.
  bool small = plan->small;
  for (std::size_t i = 1; i < all.size(); ++i) small = small && differ_in_addresses_only(first, all[i]);
  if (!small) return error(reaction::unsupported, "matmul", "these products do not share a kernel");
  const std::size_t words = 3 + first.epilogue.encoded().memory().size();
  TROUPE_TRY(on->memory().next_part());
  auto* const addresses =
      reinterpret_cast<std::uint64_t*>(TROUPE_TRY(on->memory().claim(all.size() * words * sizeof(std::uint64_t))));
  std::uint64_t* to = addresses;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const multiplication r = all[i];
    *to++ = (p.transposed ? r.b : r.a).range().address;
    *to++ = (p.transposed ? r.a : r.b).range().address;
    *to++ = r.d.range().address;
    for (const memory_operand& m : r.epilogue.encoded().memory()) *to++ = m.address;
    all.answer(i, outcome{.fused = true});
  }
  return multiply_small(first, p, *plan, addresses, all.size(), on->stream());
}

// -- products by cuBLASLt

/// A factor to copy, and the address of the copy.
struct cublaslt::copied_factor {
  const stored_matrix& matrix;
  const block_scales& scales;
  bool k_along_rows;
  std::int64_t lines;
  std::uint64_t to;
};

result<void> cublaslt::arrange(const copied_factor& s, const problem& p, const execution_plan& plan,
                               CUstream stream) const {
  const stored_matrix& m = s.matrix;
  const std::int64_t count = m.stride == 0 ? 1 : p.batch;
  const kernel_arguments::arrange_arguments a{.from = reinterpret_cast<const void*>(m.address),
                                              .to = reinterpret_cast<void*>(s.to),
                                              .lines = s.lines,
                                              .length = p.k,
                                              .padded = plan.k,
                                              .element_stride = s.k_along_rows ? 1 : m.ld,
                                              .line_stride = s.k_along_rows ? m.ld : 1,
                                              .batch = count,
                                              .from_stride = m.stride};
  const cuda::grid blocks = tiles(plan.k, s.lines, count);
  if (plan.arranged == execution_plan::arrangement::scaled) {
    const kernel_arguments::scale_arguments scaling{.what = a,
                                                    .scales = reinterpret_cast<const void*>(s.scales.address),
                                                    .k_stride = s.scales.k_stride,
                                                    .line_stride = s.scales.line_stride,
                                                    .batch_stride = s.scales.batch_stride,
                                                    .block_k = s.scales.block.k,
                                                    .block_lines = s.scales.block.lines,
                                                    .type = static_cast<std::uint64_t>(m.type),
                                                    .scale_type = static_cast<std::uint64_t>(s.scales.type)};
    return launch(scaled_type(s.scales) == dtype::f32 ? kernel<"scale", float> : kernel<"scale", bfloat16>, blocks,
                  {32, 8, 1}, stream, scaling);
  }
  const cuda::kernel_id which = plan.arranged != execution_plan::arrangement::halves ? kernel<"arrange", std::uint8_t>
                                : m.type == dtype::f8e4m3                            ? kernel<"arrange", float8_e4m3>
                                                                                     : kernel<"arrange", float8_e5m2>;
  return launch(which, blocks, {32, 8, 1}, stream, a);
}

result<void> cublaslt::arrange_scales(const block_scales& s, std::int64_t lines, std::uint64_t to,
                                      CUstream stream) const {
  const stored_scales at = scales_for_library(s, lines);
  const kernel_arguments::arrange_arguments a{.from = reinterpret_cast<const void*>(s.address),
                                              .to = reinterpret_cast<void*>(to),
                                              .lines = at.lines,
                                              .length = at.length,
                                              .padded = at.padded,
                                              .element_stride = at.element_stride,
                                              .line_stride = at.line_stride,
                                              .batch = 1,
                                              .from_stride = 0};
  return launch(kernel<"arrange", float>, tiles(at.padded, at.lines, 1), {32, 8, 1}, stream, a);
}

// Copies the factors if the plan requires it, and returns the arguments of cublasLtMatmul. Sets `alpha` and `beta` only
// if one of them is in memory.
result<product_arguments> cublaslt::prepare_arguments(const multiplication& r, const problem& p,
                                                      const execution_plan& plan, const fused_epilogue& f,
                                                      std::uint64_t memory, lane& on) const {
  product_arguments a = arguments_of(f, r.epilogue.encoded());
  std::uint64_t from_a = p.a.address, from_b = p.b.address;
  if (plan.copies_a) TROUPE_TRY(arrange({p.a, p.a_scales, p.a.transposed, p.m, from_a = memory}, p, plan, on.stream()));
  if (plan.copies_b)
    TROUPE_TRY(
        arrange({p.b, p.b_scales, !p.b.transposed, p.n, from_b = memory + plan.offset_b()}, p, plan, on.stream()));
  if (plan.arranged == execution_plan::arrangement::block_scaled) {
    const std::uint64_t scales_a = memory + plan.offset_scales_a(), scales_b = memory + plan.offset_scales_b();
    TROUPE_TRY(arrange_scales(p.a_scales, p.m, scales_a, on.stream()));
    TROUPE_TRY(arrange_scales(p.b_scales, p.n, scales_b, on.stream()));
    a.a_scale = reinterpret_cast<const void*>(scales_a), a.b_scale = reinterpret_cast<const void*>(scales_b);
  }
  a.a = reinterpret_cast<const void*>(from_a), a.b = reinterpret_cast<const void*>(from_b);
  a.d = reinterpret_cast<void*>(plan.sums_in_workspace ? memory + plan.offset_sums() : p.d.address);
  if (f.alpha_in_memory != none || f.beta_in_memory != none) {
    a.alpha = TROUPE_TRY(number_for_gpu(number_of(f.alpha, plan.sums), f.alpha_in_memory, r.epilogue.encoded(), on));
    a.beta = TROUPE_TRY(number_for_gpu(number_of(f.beta, plan.sums), f.beta_in_memory, r.epilogue.encoded(), on));
  }
  return a;
}

result<void> cublaslt::multiply(const multiplication& r, const problem& p, const execution_plan& plan,
                                std::uint64_t memory, lane& on, call& c) {
  const fused_epilogue f = epilogue_of(r, p, plan);
  product_arguments a = TROUPE_TRY(prepare_arguments(r, p, plan, f, memory, on));
  const number alpha = number_of(f.alpha, plan.sums), beta = number_of(f.beta, plan.sums);
  if (a.alpha == nullptr) a.alpha = &alpha, a.beta = &beta;
  if (a.amax != nullptr)
    TROUPE_TRY(cuda::done_on(on.stream(), "matmul", "cuMemsetD32Async",
                             ::cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(a.amax), 0, 1, on.stream())));
  const cublasStatus_t s = plan.product->enqueue(library_.get(), a, on.memory().workspace(), on.stream());
  if (s == CUBLAS_STATUS_SUCCESS) [[likely]]
    return {};
  return failed("cublasLtMatmul", s, on.stream(), c.library_is_broken);
}

// -- plans

result<plan_info> cublaslt::run(const prepare<multiplication>& request, call& c) {
  const multiplication& r = request.request;
  if (r.epilogue.encoded().empty()) return damaged("matmul", "matmul.prepare: the epilogue");
  const problem p = problem_of(r);
  plan_info info;
  selection_options how{.kept = kept_, .measure = request.measure, .info = &info};
  if (request.options.choice.library() != 0) how.given = &request.options.choice;
  const auto find = [&]() -> result<std::shared_ptr<execution_plan>> {
    auto found = TROUPE_TRY(find_execution_plan(library_.get(), {r, p}, gpu_, how));
    if (found->small || !found->product) info.source = plan_source::none;
    std::string key;
    write_key(key, r, p);
    plans_.put(key, found);
    return found;
  };
  // Without a lane, because engines that use this one prepare products while their requests run on the lane's stream.
  if (request.measure == 0 && !request.options.chosen) {
    TROUPE_TRY(find());
    return info;
  }
  lane* const on = TROUPE_TRY(lanes_.of(c));
  // This runs on a helper thread; no other thread waits for work on its stream.
  call here = c;
  here.stream = on->stream();
  std::optional<timing_run> timing;
  how.time = [&](const execution_plan& plan, const product_plan& product) -> result<double> {
    if (!timing) {
      auto scratch = TROUPE_TRY(cuda::scratch::make(here, "matmul", std::max<std::uint64_t>(1, plan.scratch_bytes())));
      const fused_epilogue f = epilogue_of(r, p, plan);
      product_arguments a = TROUPE_TRY(prepare_arguments(r, p, plan, f, scratch.address(), *on));
      auto made = TROUPE_TRY(timing_run::make(here, a, number_of(f.alpha, plan.sums), number_of(f.beta, plan.sums),
                                              timing_run::operand_bytes_of(r, p, plan, f), std::move(scratch)));
      timing.emplace(std::move(made));
    }
    return timing->time(library_.get(), product, on->memory().workspace(), on->stream());
  };
  const auto found = TROUPE_TRY(find());
  if (request.options.chosen) {
    const choice words = found->product ? found->product->chosen() : choice();
    std::byte* const from = TROUPE_TRY(on->memory().claim(sizeof words));
    std::memcpy(from, words.words.data(), sizeof words);
    TROUPE_TRY(cuda::done_on(on->stream(), "matmul", "cuMemcpyHtoDAsync",
                             ::cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(request.options.chosen->data()), from,
                                                 sizeof words, on->stream())));
  }
  timing.reset();
  TROUPE_TRY(cuda::done_on(on->stream(), "matmul", "cuStreamSynchronize", ::cuStreamSynchronize(on->stream())));
  return info;
}

}  // namespace troupe::matmul

using namespace troupe::matmul;
using requests = troupe::with_slow<all_requests, prepare<multiplication>>;
TROUPE_ENGINE(cublaslt, "matmul", "cuda", requests)
