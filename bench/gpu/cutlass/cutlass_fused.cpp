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
constexpr double than_apart = cutlass_fused_swiglu.goal.limit;

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
    f.missed = "the ratio of cutlass.fused.swiglu, because cuBLASLt does not fuse this epilogue";
  return f;
}

}  // namespace

figures run_cutlass_fused_gelu(const settings& s) {
  return run<raw_matmul_type::bf16, raw_matmul_epilogue::bias_gelu_aux>(s);
}
figures run_cutlass_fused_swiglu(const settings& s) {
  return run<raw_matmul_type::bf16, raw_matmul_epilogue::swiglu>(s);
}
figures run_cutlass_fused_rows(const settings& s) {
  return run<raw_matmul_type::bf16, raw_matmul_epilogue::sum_rows>(s);
}
figures run_cutlass_fused_amax(const settings& s) {
  return run<raw_matmul_type::fp8_to_fp8, raw_matmul_epilogue::quantize, true>(s);
}

}  // namespace troupe::bench
