// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles kernels for layers of networks with all tiles, and expects no remark of the assembler.
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <troupe/cutlass/variants/testing/kernel_compilation.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {
namespace {

using testing::h100;

class cutlass_convolution_variants : public testing::kernel_compilation {
 protected:
  // A layer of 64 contiguous channels, with filters of 3 x 3.
  convolution_problem layer(computed_tensor r, dtype t, std::int64_t stride) {
    convolution_problem p;
    p.result = r, p.images = 64, p.channels_of_group = 64, p.filters_of_group = 128, p.sums = dtype::f32;
    const std::int64_t in = 56, out = stride == 1 ? 56 : 28;
    for (const std::size_t i : {1, 2}) p.set(i, in, out, 3, {1, 1, stride, 1});
    const auto placed = [&](std::int64_t channels, std::int64_t side) {
      return placed_tensor{0, t, side * side * channels, 1, {0, side * channels, channels}};
    };
    p.x = placed(64, in), p.filters = placed(64, 3), p.y = placed(128, out);
    const epilogue::node sum{.what = epilogue::op::accumulator};
    tree_ = epilogue::encode_tree({&sum, 1}, {}, {});
    p.tree = epilogue::tree(tree_.data(), tree_.size());
    return p;
  }
  // Compiles the kernels of all tiles, some of them with clusters or divided.
  void expect_clean_plans(const convolution_problem& p, family f) {
    const auto candidates = convolution_candidates_for(p, h100, {.family = f});
    ASSERT_TRUE(candidates) << candidates.error().text();
    for (const convolution_candidate& w : *candidates) {
      const plan& each = w.plan.plan;
      const bool clusters = each.cluster_m * each.cluster_n > 1, divided = each.divided == decision::yes;
      if (f == family::hopper && (clusters ? each.tile_n != 128 : divided != (each.tile_n % 64 == 0))) continue;
      const auto work = work_of(p, w.choice, 0);
      ASSERT_TRUE(work) << work.error().text();
      ASSERT_NE(work->signature.convolution, convolution_kind::none);
      expect_clean(source_of_variant(work->signature, w.plan.plan).source, cat(to_string(p.result), " ", to_string(w)));
    }
  }
  std::vector<std::byte> tree_;
};

TEST_F(cutlass_convolution_variants, half_precision_compiles_without_spills) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (const std::int64_t stride : {1, 2})
      expect_clean_plans(layer(r, stride == 1 ? dtype::bf16 : dtype::f16, stride), family::ampere);
}

TEST_F(cutlass_convolution_variants, gathering_by_the_accelerator_compiles_without_spills) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (const std::int64_t stride : {1, 2})
      expect_clean_plans(layer(r, stride == 1 ? dtype::bf16 : dtype::f16, stride), family::hopper);
}

TEST_F(cutlass_convolution_variants, copies_compile_without_spills) {
  for (const std::size_t bytes : {1, 2, 4, 8}) expect_clean(copy_source(bytes).source, cat("of ", bytes, " bytes"));
}

}  // namespace
}  // namespace troupe::cutlass
