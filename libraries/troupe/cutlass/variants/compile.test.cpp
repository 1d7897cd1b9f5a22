// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles kernels of all kinds, and expects no remark of the assembler: no spilled registers, no local memory, no
// serialized products.
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <troupe/cutlass/variants/testing/kernel_compilation.hpp>
#include <troupe/cutlass/variants/testing/kinds.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::op;

using cutlass_kernel_compilation = testing::kernel_compilation;

// A column of the table of docs/cutlass.md; the parameter is an index of all_architectures.
class cutlass_support_table : public cutlass_kernel_compilation, public ::testing::WithParamInterface<int> {};

TEST_P(cutlass_support_table, kernels_of_each_row_compile_without_spills) {
  const testing::architecture on = testing::all_architectures[GetParam()];
  compile_for(on.capability);
  const epilogue::expression plain = epilogue::product_part{op::accumulator};
  std::vector<std::byte> encoded(plain.encoded_bytes());
  plain.encode(encoded.data());
  const epilogue::tree tree(encoded.data(), encoded.size());
  for (const testing::kind& k : testing::kinds)
    for (const bool terms : {true, false}) {
      const problem p = testing::problem_of(k, terms, tree);
      const kernel_signature f = signature_of(p);
      const auto found = candidates_for(f, {p.m, p.n, p.k, 1}, testing::properties_of(on), {});
      ASSERT_TRUE(found) << found.error().text();
      const variant_source text = source_of_variant(f, found->front().plan);
      expect_clean(text.source, cat(on.name, " ", k.name, terms ? ": " : " by lines: ", text.name));
    }
}
INSTANTIATE_TEST_SUITE_P(each, cutlass_support_table, ::testing::Range(0, 6),
                         [](const auto& info) { return std::string(testing::all_architectures[info.param].name); });

TEST_F(cutlass_kernel_compilation, variants_for_sm_80_round_factors_to_tf32) {
  for (const bool terms : {true, false})
    for (const precision how : {precision::tf32, precision::exact}) {
      const epilogue::expression plain = epilogue::product_part{op::accumulator};
      std::vector<std::byte> encoded(plain.encoded_bytes());
      plain.encode(encoded.data());
      const epilogue::tree tree(encoded.data(), encoded.size());
      const testing::kind k{"f32", dtype::f32, dtype::f32, {}, how};
      const kernel_signature f = signature_of(testing::problem_of(k, terms, tree));
      const auto found = candidates_for(f, {4096, 4096, 4096, 1}, testing::h100, {.family = family::ampere});
      ASSERT_TRUE(found) << found.error().text();
      const std::string ptx = ptx_of(source_of_variant(f, found->front().plan).source, "compute_80");
      EXPECT_NE(ptx.find(variant_kernel), std::string::npos) << ptx;
      EXPECT_EQ(ptx.find("cvt.rna.tf32.f32") != std::string::npos, how == precision::tf32) << terms;
    }
}

TEST_F(cutlass_kernel_compilation, variants_for_hopper_compile_without_spills) {
  for (const dtype t : {dtype::bf16, dtype::f16, dtype::f32, dtype::f8e4m3, dtype::f8e5m2, dtype::i8})
    for (const auto& [m, n, stages, ping_pong] :
         {std::tuple{128, 256, 4, false}, std::tuple{128, 128, 6, true}, std::tuple{64, 128, 7, true}}) {
      hopper_variant c{.first = t, .second = t, .result = bytes_of(t) == 4 ? t : dtype::bf16};
      c.tile_m = m, c.tile_n = n, c.stages = stages, c.ping_pong = ping_pong, c.result_access = 16;
      c.staged = bytes_of(c.result) != 2;
      expect_clean(text_of(c, plain_epilogue()), cat(to_string(t), " ", m, "x", n));
      if (bytes_of(t) != 1 || t == dtype::i8) continue;  // reductions of i8 are in f64, so they need staging
      c.result = t, c.staged = false;
      expect_clean(text_of(c, reducing_epilogue()), cat(to_string(t), " to itself, reducing ", m, "x", n));
    }
}

TEST_F(cutlass_kernel_compilation, divided_reduced_paired_and_clustered_tiles_compile_without_spills) {
  // A thread with 128 sums, a loaded matrix and sums of rows needs more registers than a thread has, so some kernels
  // spill.
  constexpr int known_stack_bytes = 48;
  const std::string gated = gated_epilogue(), reducing = reducing_epilogue();
  for (const auto& [m, n, stages, cluster_m, cluster_n, ping_pong] :
       {std::tuple{128, 256, 4, 1, 1, false}, std::tuple{128, 256, 4, 2, 1, false}, std::tuple{128, 128, 6, 1, 1, true},
        std::tuple{128, 128, 6, 1, 2, true}})
    for (const bool divides : {false, true})
      for (const bool lines : {false, true}) {
        hopper_variant c{.first = dtype::bf16, .second = dtype::bf16, .result = dtype::bf16};
        c.tile_m = m, c.tile_n = n, c.stages = stages, c.cluster_m = cluster_m, c.cluster_n = cluster_n,
        c.ping_pong = ping_pong;
        c.divides = divides, c.by_lines_1 = lines, c.by_lines_2 = !lines, c.result_access = 16;
        expect_clean(text_of(c, plain_epilogue()), "plain");
        expect_clean(text_of(c, loading_epilogue(dtype::bf16, true)), "adding a matrix and summing rows",
                     known_stack_bytes);
        if (divides && cluster_m * cluster_n > 1) continue;  // the same code as without clusters
        expect_clean(text_of(c, reducing), "reducing");
        c.staged = true;
        expect_clean(text_of(c, loading_epilogue(dtype::f32, true)), "staged, adding a matrix and summing rows",
                     known_stack_bytes);
        expect_clean(text_of(c, gated), "staged and gated");
        expect_clean(text_of(c, reducing), "staged and reducing");
      }
}

}  // namespace
}  // namespace troupe::cutlass
