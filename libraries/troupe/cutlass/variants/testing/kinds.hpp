// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/candidates.hpp>

/// The rows and columns of the table in docs/cutlass.md, for the tests that compare the table and compile its
/// kernels.
namespace troupe::cutlass::testing {

/// A kind of GPU.
struct architecture {
  const char* name;
  int capability;
  std::int64_t shared_bytes;
};
inline constexpr architecture all_architectures[] = {{"sm_80", 80, 166912},    {"sm_86", 86, 101376},
                                                     {"sm_89", 89, 101376},    {"sm_90a", 90, 232448},
                                                     {"sm_100a", 100, 232448}, {"sm_120a", 120, 101376}};

/// A kind of product: the types of A and B, and of scales of B.
struct kind {
  const char* name;
  dtype a, b, scale{};
  precision how = precision::exact;
  std::int64_t terms = 0;  // terms that share a scale; 0: no scales
};
inline constexpr kind kinds[] = {{"f16", dtype::f16, dtype::f16},
                                 {"bf16", dtype::bf16, dtype::bf16},
                                 {"f32", dtype::f32, dtype::f32},
                                 {"f32, tf32 allowed", dtype::f32, dtype::f32, {}, precision::tf32},
                                 {"f64", dtype::f64, dtype::f64},
                                 {"i8", dtype::i8, dtype::i8},
                                 {"f8e4m3, f8e5m2", dtype::f8e4m3, dtype::f8e5m2},
                                 {"f8e4m3, scales of 128 terms", dtype::f8e4m3, dtype::f8e4m3, dtype::f32, {}, 128},
                                 {"f8e4m3, scales of 32 terms", dtype::f8e4m3, dtype::f8e4m3, dtype::f8e8m0, {}, 32},
                                 {"f16 or bf16 with i8", dtype::bf16, dtype::i8, dtype::bf16, {}, 128},
                                 {"f16 or bf16 with f8e4m3 or f8e5m2", dtype::bf16, dtype::f8e4m3},
                                 {"f16 or bf16 with f4e2m1x2", dtype::bf16, dtype::f4e2m1x2, dtype::f8e4m3, {}, 16}};

/// Returns a product of 1024 x 1024 x 1024. All lines begin at multiples of 16 bytes, as they do in device memory.
inline problem problem_of(const kind& k, bool has_contiguous_terms, const epilogue::tree& tree) {
  problem p;
  p.m = p.n = p.k = 1024;
  const std::uint64_t address = 1 << 20;
  const auto factor_of = [&](dtype t) {
    const std::int64_t line = p.k / matmul::k_per_element(t);
    return has_contiguous_terms ? factor{address, t, line, 1, 0} : factor{address, t, 1, p.n, 0};
  };
  p.a = factor_of(k.a), p.b = factor_of(k.b);
  p.d = {address, dtype::bf16, p.n, 1, 0};
  p.sums = sums_of(k.a, k.b), p.options.precision = k.how, p.tree = tree;
  if (k.terms != 0)
    p.b_scales = {.address = address,
                  .type = k.scale,
                  .block = {1, k.terms},
                  .k_blocks = p.k / k.terms,
                  .line_blocks = p.n,
                  .k_stride = 1,
                  .line_stride = p.k / k.terms};
  return p;
}

inline cuda::gpu_properties properties_of(const architecture& a) {
  return {.capability = a.capability,
          .multiprocessors = 132,
          .shared_bytes = a.shared_bytes,
          .l2_bytes = 50 << 20,
          .gigahertz = 1.9,
          .memory_bytes_per_ns = 3000,
          .name = a.name};
}

}  // namespace troupe::cutlass::testing
