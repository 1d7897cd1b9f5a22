// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Checks that the tensor maps describe the positions of a convolution's definition.
#include <gtest/gtest.h>

#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_candidates.hpp>
#include <troupe/cutlass/variants/convolutions/window_maps.hpp>
#include <troupe/cutlass/variants/hopper_plans.hpp>
#include <troupe/cutlass/variants/testing/h100.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {
namespace {

class cutlass_window_maps : public ::testing::Test {
 protected:
  // Returns any convolution with contiguous channels and `spatial` axes.
  convolution_problem any(computed_tensor r, std::size_t spatial) {
    convolution_problem p;
    p.result = r, p.images = between(1, 3), p.channels_of_group = 64, p.filters_of_group = 128, p.sums = dtype::f32;
    for (std::size_t i = 3 - spatial; i < 3; ++i) {
      const windows::slide slide{between(0, 2), between(0, 2), between(1, 3), between(1, 2)};
      const std::int64_t width = between(1, 3), in = between(5, 9);
      p.set(i, in,
            (in + slide.padding_before + slide.padding_after - slide.dilation * (width - 1) - 1) / slide.stride + 1,
            width, slide);
    }
    p.x = placed(p.channels_of_group, p.in), p.filters = placed(p.channels_of_group, p.window);
    p.y = placed(p.filters_of_group, p.out);
    p.tree = epilogue::tree(tree_.data(), tree_.size());
    return p;
  }
  static placed_tensor placed(std::int64_t channels, const std::int64_t* e) {
    return {
        1 << 20, dtype::bf16, e[0] * e[1] * e[2] * channels, 1, {e[1] * e[2] * channels, e[2] * channels, channels}};
  }
  std::int64_t between(int low, int high) { return low + static_cast<std::int64_t>(random_() % (high - low + 1)); }

  std::mt19937 random_{5};
  const epilogue::node sum_{.what = epilogue::op::accumulator};
  const std::vector<std::byte> tree_ = epilogue::encode_tree({&sum_, 1}, {}, {});
};

// Expects the coordinates of an im2col map, as the driver's manual defines them: windows begin at the lowest position,
// and at each stride from there to the highest.
void expect_locations(const convolution_product& x, const hopper_variant& c) {
  const kernels::convolution_arguments& w = x.arguments;
  const window_map m = maps_of(x, c).image;
  ASSERT_TRUE(m.gathers);
  for (std::size_t j = 0; j + 2 < m.rank; ++j) {
    int position = 0;
    for (int at = m.lower[j]; at <= static_cast<int>(m.extents[j + 1]) - 1 + m.upper[j];
         at += static_cast<int>(m.steps[j + 1]), ++position)
      for (int tap = 0; tap < w.taps[j]; ++tap) {
        const int offset = w.per_tap[j] < 0 ? (tap - (w.taps[j] - 1)) * w.per_tap[j] : tap * w.per_tap[j];
        EXPECT_GE(offset, 0);
        EXPECT_EQ(at + offset, w.first[j] + position * w.per_position[j] + tap * w.per_tap[j])
            << "axis " << j << ", position " << position << ", tap " << tap;
      }
    EXPECT_EQ(position, w.positions[j]) << "axis " << j;
  }
  for (std::size_t i = 0; i + 1 < m.rank; ++i) EXPECT_TRUE(m.strides[i] > 0 && m.strides[i] % 16 == 0);
}

TEST_F(cutlass_window_maps, maps_locate_the_elements_that_a_convolution_reads_by_its_definition) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
    for (int i = 0; i < 60; ++i) {
      const convolution_problem p = any(r, static_cast<std::size_t>(between(1, 3)));
      SCOPED_TRACE(cat(to_string(r), " ", i));
      const auto work = work_of(p, needed_copies(p), 0);
      ASSERT_TRUE(work) << work.error().text();
      if (work->signature.convolution == convolution_kind::none) continue;
      ASSERT_EQ(why_not_gathered(*work), "");
      const plan tile{.family = family::hopper, .cluster_m = 1, .cluster_n = 1, .tile_m = 128, .tile_n = 128};
      for (const convolution_product& x : work->products) expect_locations(x, hopper_variant_of(work->signature, tile));
    }
}

TEST_F(cutlass_window_maps, filter_maps_have_the_elements_of_one_remainder_modulo_the_stride) {
  convolution_problem p = any(computed_tensor::dx, 1);
  p.set(2, 8, 4, 3, {1, 1, 2, 1});
  p.x = placed(64, p.in), p.filters = placed(64, p.window), p.y = placed(128, p.out);
  const auto work = work_of(p, needed_copies(p), 0);
  ASSERT_TRUE(work) << work.error().text();
  ASSERT_EQ(work->products.size(), 2u);
  const plan tile{.family = family::hopper, .cluster_m = 2, .cluster_n = 1, .tile_m = 128, .tile_n = 128};
  const hopper_variant variant = hopper_variant_of(work->signature, tile);
  EXPECT_TRUE(variant.staged) << "positions of rows are two apart";
  // Even positions read the filter's middle element, odd positions its first and last.
  const window_map even = maps_of(work->products[0], variant).filters,
                   odd = maps_of(work->products[1], variant).filters;
  EXPECT_EQ(even.extents[1], 1u);
  EXPECT_EQ(even.address - p.filters.address, 64u * sizeof(std::uint16_t));
  EXPECT_EQ(odd.extents[1], 2u);
  EXPECT_EQ(odd.address, p.filters.address);
  EXPECT_EQ(odd.strides[0], 2u * 64 * sizeof(std::uint16_t));
  EXPECT_EQ(odd.extents[4], 128u);
}

TEST_F(cutlass_window_maps, k_includes_the_channels_that_hopper_pads) {
  convolution_problem p = any(computed_tensor::y, 1);
  p.channels_of_group = 72, p.set(2, 8, 8, 3, {1, 1, 1, 1});
  p.x = placed(72, p.in), p.filters = placed(72, p.window), p.y = placed(128, p.out);
  const auto work = work_of(p, needed_copies(p), 0);
  ASSERT_TRUE(work) << work.error().text();
  EXPECT_EQ(product_as_copied(work->products[0], work->signature, {.family = family::hopper}).k, 3 * 128);
  EXPECT_EQ(product_as_copied(work->products[0], work->signature, {.family = family::ampere}).k, 3 * 72);
}

TEST_F(cutlass_window_maps, unsupported_windows_are_refused_with_the_reason) {
  const auto reason = [&](const windows::slide& s, std::int64_t in, std::int64_t width, computed_tensor r) {
    convolution_problem p = any(r, 2);
    for (const std::size_t i : {1, 2})
      p.set(i, in, (in + s.padding_before + s.padding_after - s.dilation * (width - 1) - 1) / s.stride + 1, width, s);
    p.x = placed(64, p.in), p.filters = placed(64, p.window), p.y = placed(128, p.out);
    const auto work = work_of(p, needed_copies(p), 0);
    return work ? why_not_gathered(*work) : work.error().text();
  };
  using enum computed_tensor;
  EXPECT_EQ(reason({1, 1, 1, 1}, 20, 3, y), "");
  EXPECT_NE(reason({1, 1, 9, 1}, 200, 3, y).find("windows move by 9 positions; expected at most 8"), std::string::npos);
  EXPECT_NE(reason({1, 1, 1, 100}, 700, 4, y).find("end -299 positions from an edge"), std::string::npos);
  EXPECT_NE(reason({130, 0, 1, 1}, 200, 3, y).find("windows begin -130"), std::string::npos);
}

TEST_F(cutlass_window_maps, hopper_plans_are_expected_to_be_faster_than_ampere_plans) {
  for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters}) {
    convolution_problem p = any(r, 2);
    p.images = 64;
    for (const std::size_t i : {1, 2}) p.set(i, 28, 28, 3, {1, 1, 1, 1});
    p.x = placed(64, p.in), p.filters = placed(64, p.window), p.y = placed(128, p.out);
    const auto candidates = convolution_candidates_for(p, testing::h100, {});
    ASSERT_TRUE(candidates) << candidates.error().text();
    EXPECT_EQ(candidates->front().plan.plan.family, family::hopper);
    EXPECT_TRUE(std::any_of(candidates->begin(), candidates->end(),
                            [](const convolution_candidate& w) { return w.plan.plan.family == family::ampere; }));
    cuda::gpu_properties older = testing::h100;
    older.capability = 80;
    const auto other = convolution_candidates_for(p, older, {});
    ASSERT_TRUE(other) << other.error().text();
    for (const convolution_candidate& w : *other) EXPECT_EQ(w.plan.plan.family, family::ampere);
  }
}

}  // namespace
}  // namespace troupe::cutlass
