// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles kernels for Hopper that widen a factor, and expects no remark of the assembler.
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>
#include <troupe/cutlass/variants/testing/kernel_compilation.hpp>

namespace troupe::cutlass {
namespace {

class cutlass_mixed_hopper_variants : public testing::kernel_compilation {
 protected:
  static constexpr dtype narrow[] = {dtype::i8, dtype::f8e4m3, dtype::f8e5m2, dtype::f4e2m1x2};
  static constexpr std::int64_t shared_bytes = 227 * 1024;
  static hopper_variant variant_of(dtype narrow, dtype wide, int tile_n) {
    hopper_variant c{.first = narrow, .second = wide, .result = wide};
    c.tile_n = tile_n, c.stages = 2, c.slices = narrow == dtype::f4e2m1x2 ? 2 : 1, c.staged = c.crossed = true;
    c.result_access = 16;
    return c;
  }
  // Compiles the kernel with as many stages as fit.
  void expect_clean_variant(hopper_variant c, const std::string& epilogue_text, bool paired, const std::string& name) {
    for (c.stages = 16; c.stages > 2 && !can_be(c, paired, shared_bytes);) --c.stages;
    ASSERT_TRUE(can_be(c, paired, shared_bytes)) << name;
    expect_clean(text_of(c, epilogue_text), cat(to_string(c.first), " ", to_string(c.second), " ", c.tile_m, "x",
                                                c.tile_n, "x", depth_of(c), ", ", c.stages, " stages ", name));
  }
};

TEST_F(cutlass_mixed_hopper_variants, all_types_compile_without_spills) {
  for (const dtype n : narrow)
    for (const dtype wide : {dtype::f16, dtype::bf16})
      for (const int tile_n : {16, 256}) {
        const hopper_variant c = variant_of(n, wide, tile_n);
        expect_clean_variant(c, plain_epilogue(), false, "plain");
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_mixed_hopper_variants, scales_compile_without_spills) {
  for (const dtype n : narrow)
    for (const int promoted : {1, 2, 4, 8}) {
      hopper_variant c = variant_of(n, dtype::bf16, promoted % 4 == 0 ? 128 : 96);
      c.slices = std::max(c.slices, promoted / 4);
      c.promoted = promoted, c.first_scales = promoted == 1 ? dtype::f8e4m3 : dtype::bf16;
      expect_clean_variant(c, plain_epilogue(), false, cat("scales of sums ", promoted));
      hopper_variant numbers = c;
      numbers.promoted = 0, numbers.scaled_numbers = promoted, numbers.tile_n = 256;
      expect_clean_variant(numbers, plain_epilogue(), false, cat("scales of numbers ", promoted));
      if (promoted < 4) continue;
      c.second_scales = dtype::f32, c.tile_n = 64, c.scale_for_each_column = true;
      expect_clean_variant(c, plain_epilogue(), false, cat("scales of both ", promoted));
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_mixed_hopper_variants, groups_that_split_k_compile_without_spills) {
  for (const dtype n : narrow)
    for (const auto& [rows, columns, promoted] :
         {std::tuple{64, 16, 0}, std::tuple{64, 64, 8}, std::tuple{64, 16, 8}, std::tuple{256, 64, 0},
          std::tuple{256, 16, 8}, std::tuple{256, 32, 0}, std::tuple{256, 16, 1}, std::tuple{64, 16, 1}}) {
      hopper_variant c = variant_of(n, dtype::bf16, columns);
      c.tile_m = rows, c.groups = rows == columns ? 2 : 4, c.splits_k = rows == 64, c.divides = true, c.slices = 2;
      if (promoted > 0) c.promoted = promoted, c.first_scales = dtype::bf16;
      expect_clean_variant(c, plain_epilogue(), false, cat(c.groups, " groups, scales ", promoted));
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_mixed_hopper_variants, divided_reduced_paired_and_clustered_tiles_compile_without_spills) {
  const std::string gated = gated_epilogue(), reducing = reducing_epilogue();
  for (const auto& [m, n, cluster_m, cluster_n, ping_pong] :
       {std::tuple{128, 256, 1, 1, false}, std::tuple{128, 192, 2, 1, false}, std::tuple{64, 128, 1, 1, true}})
    for (const bool crossed : {false, true}) {
      hopper_variant c = variant_of(dtype::i8, dtype::bf16, n);
      c.tile_m = m, c.cluster_m = cluster_m, c.cluster_n = cluster_n, c.ping_pong = ping_pong;
      c.divides = cluster_m * cluster_n == 1, c.crossed = crossed;
      c.by_lines_2 = crossed && n % 128 == 0;
      expect_clean_variant(c, gated, true, crossed ? "gated, crossed" : "gated");
      expect_clean_variant(c, reducing, false, crossed ? "reducing, crossed" : "reducing");
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace troupe::cutlass
