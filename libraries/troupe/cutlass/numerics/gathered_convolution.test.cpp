// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares convolutions whose images the tensor memory accelerator gathers with the definition. The plan is forced, so
// that no other template computes them.
#include <troupe/cutlass/testing/convolution_cases.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;
using enum computed_tensor;

constexpr computed_tensor all_results[] = {y, dx, dfilters};

class cutlass_gathered_convolutions : public convolution_numerics {
 protected:
  // Returns a convolution of images with 64 channels; the gradient of filters has enough terms to be divided.
  static convolution_case gathered(computed_tensor r, dtype t) {
    convolution_case c{.result = r, .first = t, .second = t, .computed = t};
    c.images = 3, c.channels = 64, c.filters = 72;
    c.in = {1, 9, 11}, c.width = {1, 3, 3}, c.padding_before = {0, 1, 1}, c.padding_after = {0, 1, 1};
    c.how = layout::channels_last;
    c.plan = {.family = family::hopper};
    return c;
  }
  // Returns true if the engine is on a Hopper GPU. Filters of one element make an ordinary product, which only the
  // template for Hopper computes with this plan.
  bool is_hopper() {
    if (!engine->is_cuda()) return false;
    convolution_case c = gathered(y, dtype::bf16);
    c.width = {1, 1, 1}, c.padding_before = c.padding_after = {};
    case_tensors all(c, random);
    conv_forward r{all.x.operand<access_mode::read>(2), all.filters.operand<access_mode::read>(2),
                   all.y.operand<access_mode::write>(2)};
    r.options.plan.family = family::hopper;
    return engine->run(prepare{r}).has_value();
  }
  static expression plain(std::int64_t, std::int64_t, std::int64_t) { return acc; }
};

TEST_F(cutlass_gathered_convolutions, one_to_three_spatial_axes_match_the_definition) {
  if (!is_hopper()) return;
  for (const computed_tensor r : all_results)
    for (std::size_t spatial = 1; spatial <= 3 && !HasFailure(); ++spatial)
      for (int i = 0; i < 3; ++i) {
        convolution_case c = gathered(r, i % 2 == 0 ? dtype::bf16 : dtype::f16);
        c.spatial = spatial, c.images = random.between(1, 4);
        c.channels = r == dfilters ? 64 * random.between(1, 2) : 8 * random.between(1, 20);
        c.filters = 8 * random.between(1, 20);
        if (i == 2) c.computed = dtype::f32;
        for (std::size_t d = 0; d < 3; ++d) {
          if (d < 3 - spatial) {
            c.in[d] = c.width[d] = 1, c.padding_before[d] = c.padding_after[d] = 0;
            continue;
          }
          c.in[d] = random.between(2, 12), c.width[d] = random.between(1, 4);
          c.padding_before[d] = random.between(0, 3), c.padding_after[d] = random.between(0, 3);
          c.stride[d] = random.between(1, 3), c.dilation[d] = random.between(1, 3);
          while (positions(c, d) < 1) ++c.in[d];
        }
        // A filter of one element with stride 1 would be an ordinary product.
        if (c.width[2] == 1 && c.stride[2] == 1) c.width[2] = 2, ++c.in[2];
        expect_as_defined(c, plain);
      }
}

class cutlass_gathered_convolutions_by_result : public cutlass_gathered_convolutions,
                                                public ::testing::WithParamInterface<computed_tensor> {};

TEST_P(cutlass_gathered_convolutions_by_result, tiles_clusters_and_divided_sums_match_the_definition) {
  if (!is_hopper()) return;
  struct tile {
    std::uint16_t m, n;
    schedule how;
    std::uint8_t cluster_m, cluster_n;
    decision divided;
  };
  constexpr tile tiles[] = {
      {128, 128, schedule::cooperative, 1, 1, decision::no}, {128, 256, schedule::cooperative, 2, 1, decision::no},
      {128, 128, schedule::ping_pong, 1, 2, decision::no},   {64, 64, schedule::ping_pong, 1, 1, decision::yes},
      {64, 192, schedule::ping_pong, 1, 1, decision::yes},   {128, 64, schedule::cooperative, 1, 1, decision::yes}};
  for (const std::int64_t stride : {1, 2})
    for (const tile& t : tiles) {
      convolution_case c = gathered(GetParam(), dtype::bf16);
      c.computed = stride == 1 ? dtype::bf16 : dtype::f32, c.stride = {1, stride, stride};
      c.plan = {.family = family::hopper,
                .schedule = t.how,
                .divided = t.divided,
                .cluster_m = t.cluster_m,
                .cluster_n = t.cluster_n,
                .tile_m = t.m,
                .tile_n = t.n};
      c.channels = GetParam() == dx ? 136 : 64, c.filters = 136;
      expect_as_defined(c, plain);
      if (HasFailure()) return;
    }
}
INSTANTIATE_TEST_SUITE_P(all, cutlass_gathered_convolutions_by_result, ::testing::ValuesIn(all_results),
                         [](const auto& info) { return std::string(to_string(info.param)); });

TEST_F(cutlass_gathered_convolutions, groups_match_the_definition) {
  if (!is_hopper()) return;
  for (const computed_tensor r : all_results)
    for (const std::int64_t stride : {1, 2}) {
      convolution_case c = gathered(r, dtype::f16);
      c.groups = 3, c.channels = 64, c.filters = r == dx ? 64 : 72, c.stride = {1, stride, stride};
      expect_as_defined(c, plain);
    }
}

TEST_F(cutlass_gathered_convolutions, epilogues_may_have_operands_and_reductions) {
  if (!is_hopper()) return;
  for (const computed_tensor r : all_results)
    for (const std::int64_t stride : {1, 2}) {
      convolution_case c = gathered(r, dtype::bf16);
      c.stride = {1, stride, stride}, c.computed = dtype::f32;
      expect_as_defined(
          c,
          [&](auto rows, auto columns, auto batch) {
            const expression x = 2 * acc + expression(loaded(op::load_row, dtype::f32, 1, 1, columns)) +
                                 loaded(op::load, dtype::bf16, batch, rows, columns);
            // Sums of magnitudes do not cancel, so their error is small relative to the sum.
            return 1 -
                   expression::reducing(abs(x), reduction::sum, reduction_scope::all, operand(dtype::f32, batch, 1, 1));
          },
          1e-5);
    }
}

TEST_F(cutlass_gathered_convolutions, tiles_divided_into_many_parts_match_the_definition) {
  if (!is_hopper()) return;
  convolution_case c = gathered(dfilters, dtype::bf16);
  c.images = 12, c.in = {1, 27, 31}, c.computed = dtype::f32;
  c.plan.divided = decision::yes, c.plan.tile_m = 64, c.plan.tile_n = 64;
  expect_as_defined(c, plain);
}

TEST_F(cutlass_gathered_convolutions, eight_bit_types_match_the_definition) {
  if (!is_hopper()) return;
  for (const dtype t : {dtype::i8, dtype::f8e4m3}) {
    convolution_case c = gathered(y, t);
    c.computed = t == dtype::i8 ? dtype::i32 : dtype::f32, c.channels = 48;
    expect_as_defined(c, plain);
  }
}

TEST_F(cutlass_gathered_convolutions, a_refusal_of_a_plan_that_cannot_gather_names_the_nearest_plan) {
  if (!is_hopper()) return;
  convolution_case c = gathered(dfilters, dtype::bf16);
  c.channels = 40;
  case_tensors all(c, random);
  conv_weight_gradient r{all.y.operand<access_mode::read>(2), all.x.operand<access_mode::read>(2),
                         all.filters.operand<access_mode::write>(2)};
  r.padding = {1, 1}, r.options.plan.family = family::hopper;
  const auto refused = engine->run(r);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("the nearest possible plan is ampere"), std::string::npos)
      << refused.error().text();
}

}  // namespace
}  // namespace troupe::cutlass
