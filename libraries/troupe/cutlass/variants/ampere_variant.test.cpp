// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/cutlass/variants/ampere_variant.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <utility>

namespace troupe::cutlass {
namespace {

ampere_variant variant_of(dtype first, dtype second) {
  ampere_variant c;
  c.first.type = first, c.second.type = second, c.result = dtype::f32;
  return c;
}
std::string text_with_product(const ampere_variant& c) {
  const epilogue::node product{.what = epilogue::op::accumulator};
  return text_of(c, epilogue_source({&product, 1}, {}, 0, dtype::f32, false));
}
bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

TEST(cutlass_ampere_variants, tensor_cores_take_mixed_factors_and_8_bit_floats_but_no_other_pairs) {
  EXPECT_TRUE(has_tensor_cores(dtype::bf16, dtype::f4e2m1x2));
  EXPECT_TRUE(has_tensor_cores(dtype::i8, dtype::f16));
  EXPECT_TRUE(has_tensor_cores(dtype::f8e4m3, dtype::f8e5m2));
  EXPECT_FALSE(has_tensor_cores(dtype::f16, dtype::bf16));
  EXPECT_FALSE(has_tensor_cores(dtype::i8, dtype::f8e4m3));
  EXPECT_FALSE(has_tensor_cores(dtype::f4e2m1x2, dtype::f4e2m1x2));
}

TEST(cutlass_ampere_variants, a_pair_of_types_without_tensor_cores_is_refused_unless_the_variant_is_exact) {
  ampere_variant c = variant_of(dtype::f16, dtype::f32);
  EXPECT_EQ(error_of(c), "only an exact variant multiplies these types");
  c.exact = true;
  EXPECT_EQ(error_of(c), "");
  c.second.type = dtype::f64;
  EXPECT_EQ(error_of(c), "exact: expected types that a float holds");
}

TEST(cutlass_ampere_variants, a_tile_that_the_warps_cannot_share_is_refused) {
  ampere_variant c = variant_of(dtype::bf16, dtype::bf16);
  EXPECT_EQ(error_of(c), "");
  c.tile_m = 96, c.warps_m = 4;
  EXPECT_EQ(error_of(c), "tile_m: expected 16 rows for each warp, 32 if exact, or a multiple");
  c.warps_m = 2, c.tile_n = 64;
  EXPECT_EQ(error_of(c), "");
  c.paired = true;
  EXPECT_EQ(error_of(c), "tile_n: expected 16 columns for each warp, 32 for pairs, or a multiple");
}

TEST(cutlass_ampere_variants, scales_need_a_promotion_interval_that_fits_the_stages) {
  ampere_variant c = variant_of(dtype::f8e4m3, dtype::f8e4m3);
  c.depth = 64, c.first.scales = dtype::f32;
  EXPECT_EQ(error_of(c), "promotion_k: expected more than 0, because there are scales");
  for (const int terms : {32, 64, 128}) {
    c.promotion_k = terms;
    EXPECT_EQ(error_of(c), "") << terms;
  }
  for (const int terms : {16, 96}) {
    c.promotion_k = terms;
    EXPECT_NE(error_of(c), "") << terms;
  }
}

TEST(cutlass_ampere_variants, copies_are_as_wide_as_the_alignment_allows) {
  ampere_variant c = variant_of(dtype::bf16, dtype::bf16);
  for (const auto& [alignment, chunk] : {std::pair{32, 16}, {16, 16}, {8, 8}, {4, 4}, {2, 0}}) {
    c.first.alignment = alignment;
    EXPECT_TRUE(says(text_with_product(c), "chunk_1 = " + std::to_string(chunk) + ";")) << alignment;
  }
  c.first = {.type = dtype::bf16, .contiguous = contiguous_axis::none};
  EXPECT_TRUE(says(text_with_product(c), "chunk_1 = 0;"));
  c = variant_of(dtype::f32, dtype::f32);
  c.first.contiguous = contiguous_axis::none;
  EXPECT_TRUE(says(text_with_product(c), "chunk_1 = 4;"));
}

TEST(cutlass_ampere_variants, the_shared_memory_of_a_smaller_gpu_holds_three_stages_of_the_largest_tile) {
  ampere_variant c = variant_of(dtype::bf16, dtype::bf16);
  c.tile_n = 256, c.depth = 32;
  EXPECT_LE(shared_bytes_of(c), 99 * 1024);
  c.depth = 64, c.stages = 4;
  EXPECT_LE(shared_bytes_of(c), 227 * 1024);
}

TEST(cutlass_ampere_variants, a_convolution_refuses_scales_and_a_first_factor_with_contiguous_lines) {
  ampere_variant c = variant_of(dtype::bf16, dtype::bf16);
  c.convolution = convolution_kind::forward;
  EXPECT_EQ(error_of(c), "");
  c.first.contiguous = contiguous_axis::lines;
  EXPECT_EQ(error_of(c), "first: expected contiguous channels, or no contiguous axis");
  c.convolution = convolution_kind::weight_gradient;
  EXPECT_EQ(error_of(c), "");
  c.second.scales = dtype::f32, c.promotion_k = 64;
  EXPECT_EQ(error_of(c), "convolution: neither scales nor f4e2m1x2 can be gathered");
}

TEST(cutlass_ampere_variants, a_reduction_adds_the_kernel_that_combines_its_parts) {
  const epilogue::node nodes[] = {{.what = epilogue::op::accumulator},
                                  {.what = epilogue::op::reduce, .operand = 1, .arguments = {0, 0, 0}}};
  const memory_kind memory[] = {{.type = dtype::bf16}, {.type = dtype::f32}};
  const std::string epilogue_text = epilogue_source(nodes, memory, 0, dtype::f32, false);
  EXPECT_TRUE(says(epilogue_text, "reductions = 1"));
  EXPECT_TRUE(says(epilogue_text, "to[] = {1}"));
  EXPECT_TRUE(
      says(epilogue_text, "if (r == 0) reinterpret_cast<f32::bits*>(p.memory[1].address)[at] = f32::store(x);"));
  EXPECT_TRUE(says(epilogue_text, "#define TROUPE_REDUCES"));
}

}  // namespace
}  // namespace troupe::cutlass
