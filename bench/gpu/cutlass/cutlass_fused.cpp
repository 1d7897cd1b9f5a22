// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products with epilogues, compared with cuBLASLt's own epilogues if it has them, and otherwise with its product and a
// kernel.
#include <bench/gpu/cutlass/cutlass_pair.hpp>
#include <bench/gpu/model_layers.hpp>
#include <bench/measures.hpp>
#include <bench/ratio_list.hpp>

namespace troupe::bench {
namespace {

// How much faster one fused kernel must be than a product and a second kernel.
constexpr double than_apart = 1.2;

template <raw_matmul_type Type, raw_matmul_epilogue Epilogue, bool Fast = false>
figures run(const settings& s) {
  // The second of the large products is one of model_layers with a small k, so that the second kernel takes a large
  // part of the time.
  constexpr product_extents large[] = {{4096, 4096, 4096}, {8192, 4096, 1024}}, small[] = {{24, 32, 40}};
  const device_under_test gpu(s, for_cutlass());
  ratio_list all;
  int calls = 0;
  for (const product_extents& e :
       s.engine == "host" ? std::span<const product_extents>(small) : std::span<const product_extents>(large)) {
    constexpr float scale = 0.25f;  // of a result of 8 bits
    const product_pair both(
        s, *gpu,
        in_copies({.type = Type, .m = e.m, .n = e.n, .k = e.k, .epilogue = Epilogue, .fast = Fast, .scale = scale}));
    const compared_products found = compare(s, both, measured_plans(s), 7);
    calls = std::max(calls, both.bare->calls());
    all.add(
        cat(e.m, " x ", both.problem.rows_of_b(), " x ", e.k), found.rates,
        cat(both.bare->calls() == 1 ? "; raw: one call; " : "; raw: a call and a kernel; ", to_string(found.info.plan)),
        found.wrong);
  }
  figures f = all.mean();
  f.note += all.lines();
  // cuBLASLt was expected to compute this in one call, but does not.
  if (Epilogue == raw_matmul_epilogue::quantize && calls == 2 && f.ratio() < than_apart)
    f.missed = "ratio >= 1.2, because cuBLASLt does not fuse this epilogue";
  return f;
}

}  // namespace

const measure cutlass_fused_gelu{
    .name = "cutlass.fused.gelu_aux",
    .unit = "TFLOP/s",
    .ours = "gelu_tanh(store(aux, acc + row(bias))) of bfloat16, two shapes, measured plans: geometric mean",
    .raw = "cublasLtMatmul with CUBLASLT_EPILOGUE_GELU_AUX_BIAS",
    .goal = {goal::kind::ratio_at_least, 1},
    .run = run<raw_matmul_type::bf16, raw_matmul_epilogue::bias_gelu_aux>};
const measure cutlass_fused_swiglu{.name = "cutlass.fused.swiglu",
                                   .unit = "TFLOP/s",
                                   .ours = "silu(left) * right of bfloat16, two shapes, measured plans: geometric mean",
                                   .raw = "cublasLtMatmul, and a kernel that reads both halves",
                                   .goal = {goal::kind::ratio_at_least, than_apart},
                                   .run = run<raw_matmul_type::bf16, raw_matmul_epilogue::swiglu>};
const measure cutlass_fused_rows{
    .name = "cutlass.fused.sum_rows",
    .unit = "TFLOP/s",
    .ours = "sum_rows(sums, acc + load(c)) of bfloat16, two shapes, measured plans: geometric mean",
    .raw = "cublasLtMatmul with beta = 1, and a kernel that sums rows",
    .goal = {goal::kind::ratio_at_least, than_apart},
    .run = run<raw_matmul_type::bf16, raw_matmul_epilogue::sum_rows>};
const measure cutlass_fused_amax{
    .name = "cutlass.fused.amax",
    .unit = "TFLOP/s",
    .ours = "quantize<e4m3>(absmax_all(largest, acc), scale) of e4m3, two shapes, measured plans: geometric mean",
    .raw = "cublasLtMatmul with CUBLASLT_MATMUL_DESC_AMAX_D_POINTER; if it refuses, a product and a kernel",
    .goal = {goal::kind::ratio_at_least, 1},
    .run = run<raw_matmul_type::fp8_to_fp8, raw_matmul_epilogue::quantize, true>};

}  // namespace troupe::bench
