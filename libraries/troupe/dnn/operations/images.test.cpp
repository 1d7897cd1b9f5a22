// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares normalization across channels, resampling, pooling with indexes, and block scaling with cases that are
// computed by hand.
#include <cmath>
#include <limits>
#include <troupe/dnn/operations/blocks/block_scaling.hpp>
#include <troupe/dnn/operations/resampling/sampling.hpp>
#include <troupe/dnn/testing/variable.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;
using numbers = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

void expect_near(const numbers& got, const numbers& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "at " << i << " is " << got[i];
    else
      EXPECT_NEAR(got[i], want[i], tolerance) << "at " << i;
  }
}

TEST(dnn_images, local_response_norm_divides_by_a_power_of_the_squares_in_neighboring_channels) {
  const variable x{{1, 2, 3, 4}, {1, 4}};
  // The sums of squares are 1 + 4, 1 + 4 + 9, 4 + 9 + 16 and 9 + 16; alpha / size is 2.
  expect_near(values_of(local_response_norm(x.read(), {.size = 3, .alpha = 6, .beta = 1, .k = 1})),
              {1 / 11.0, 2 / 29.0, 3 / 59.0, 4 / 51.0});
  expect_near(values_of(local_response_norm(x.read(), {.size = 3, .alpha = 6, .beta = 0.5, .k = 1})),
              {1 / std::sqrt(11), 2 / std::sqrt(29), 3 / std::sqrt(59), 4 / std::sqrt(51)});
  // A sum over two channels adds the squares in the element's channel and in the next.
  expect_near(values_of(local_response_norm(x.read(), {.size = 2, .alpha = 2, .beta = 1, .k = 1})),
              {1 / 6.0, 2 / 14.0, 3 / 26.0, 4 / 17.0});
  const variable image{{1, 2, 3, 4}, {1, 2, 2}};
  expect_near(values_of(local_response_norm(image.read(), {.size = 3, .alpha = 3, .beta = 1, .k = 1})),
              {1 / 11.0, 2 / 21.0, 3 / 11.0, 4 / 21.0});
}

TEST(dnn_images, resampling_aligns_the_outer_borders_by_default) {
  const variable x{{0, 8, 4}, {1, 1, 3}};
  const auto of = [&](std::int64_t to, resampling_kind kind) { return values_of(resample(x.read(), {to}, {kind})); };
  // The elements are at -1/4, 1/4, 3/4, 5/4, 7/4 and 9/4.
  expect_near(of(6, resampling_kind::linear), {0, 2, 6, 7, 5, 4});
  expect_near(of(6, resampling_kind::nearest), {0, 0, 8, 8, 4, 4});
  expect_near(of(1, resampling_kind::linear), {8});
  expect_near(of(2, resampling_kind::linear), {2, 5});  // at 1/4 and 7/4
  expect_near(of(2, resampling_kind::nearest), {0, 4});
  expect_near(of(3, resampling_kind::cubic), {0, 8, 4});
  // At 1/4, Keys's weights for the distances 5/4, 1/4, 3/4 and 7/4 are -0.10546875, 0.87890625, 0.26171875,
  // -0.03515625.
  expect_near({of(6, resampling_kind::cubic)[1]}, {8 * 0.26171875 - 4 * 0.03515625});
  EXPECT_EQ(values_of(resample_by(x.read(), {2.5}, {resampling_kind::nearest})).size(), 7u);
}

TEST(dnn_images, resampling_can_align_the_corners) {
  const variable x{{0, 8, 4}, {1, 1, 3}};
  const auto of = [&](std::int64_t to, resampling_kind kind) {
    return values_of(resample(x.read(), {to}, {kind, resampling_coordinates::align_corners}));
  };
  expect_near(of(5, resampling_kind::linear), {0, 4, 8, 6, 4});
  expect_near(of(5, resampling_kind::nearest), {0, 8, 8, 4, 4});
  expect_near(of(2, resampling_kind::linear), {0, 4});
  expect_near(of(1, resampling_kind::linear), {0});
  const variable plane{{0, 4, 8, 12}, {1, 1, 2, 2}};
  expect_near(
      values_of(resample(plane.read(), {3, 3}, {resampling_kind::linear, resampling_coordinates::align_corners})),
      {0, 2, 4, 4, 6, 8, 8, 10, 12});
}

TEST(dnn_images, resampling_has_the_positions_and_roundings_of_onnx_and_pytorch) {
  using enum resampling_coordinates;
  using enum nearest_rounding;
  const variable x{{0, 8, 4, 6}, {1, 1, 4}};
  const auto of = [&](std::int64_t to, const resampling_options& o) { return values_of(resample(x.read(), {to}, o)); };
  // The elements are at 0, 2/3, 4/3, 2, 8/3 and 10/3.
  expect_near(of(6, {resampling_kind::linear, asymmetric}), {0, 16 / 3.0, 20 / 3.0, 4, 16 / 3.0, 6});
  // torch.nn.functional.interpolate(mode="nearest"), and "nearest-exact"
  expect_near(of(6, {resampling_kind::nearest, asymmetric, nearest_rounding::floor}), {0, 0, 8, 4, 4, 6});
  expect_near(of(3, {resampling_kind::nearest}), {0, 4, 6});
  // At 1/2 and 5/2.
  expect_near(of(2, {resampling_kind::nearest, half_pixel, round_prefer_ceil}), {8, 6});
  expect_near(of(2, {resampling_kind::nearest, half_pixel, round_prefer_floor}), {0, 4});
  expect_near(of(2, {resampling_kind::nearest, half_pixel, nearest_rounding::ceil}), {8, 6});
  expect_near(of(1, {resampling_kind::linear, half_pixel}), {6});
  expect_near(of(1, {resampling_kind::linear, pytorch_half_pixel}), {0});
  expect_near(of(2, {resampling_kind::linear, pytorch_half_pixel}), {4, 5});
}

TEST(dnn_images, resampling_and_its_gradient_use_the_same_neighbors) {
  for (const std::int64_t taps : {1, 2, 4})
    for (int way = 0; way < 16; ++way)
      for (std::int64_t in = 1; in < 12; ++in)
        for (std::int64_t out = 1; out < 14; ++out) {
          const auto coordinates = static_cast<resampling_coordinates>(way % 4);
          const auto rounding = static_cast<nearest_rounding>(way / 4);
          const sampling_axis a{in, out, taps, coordinates, rounding};
          for (std::int64_t i = 0; i < in; ++i)
            for (std::int64_t o = 0; o < out; ++o) {
              double rest = 0;
              const std::int64_t first = a.first(o, rest);
              bool is_neighbor = false;
              for (std::int64_t k = 0; k < taps; ++k) is_neighbor |= a.on_image(first + k) == i;
              EXPECT_EQ(o >= a.first_user(i) && o < a.last_user(i), is_neighbor)
                  << in << " to " << out << ", taps " << taps << ", " << to_string(coordinates) << ", "
                  << to_string(rounding) << ": " << i << " in " << o;
              EXPECT_TRUE(rest >= 0 && rest < 1);
            }
        }
}

TEST(dnn_images, max_pool_with_indexes_returns_the_positions_of_the_maxima) {
  const variable x{{1, 5, 5, nan, 2, nan, 0, 0}, {1, 2, 4}};
  const pooled p = max_pool_with_indexes(x.read(), 2);
  expect_near(values_of(p.y), {5, nan, nan, 0});
  expect_near(values_of(p.indexes), {1, 3, 1, 2});
  EXPECT_EQ(p.indexes.type(), dtype::i32);
  const variable dy{{1, 2, 3, 4}, {1, 2, 2}};
  expect_near(values_of(max_pool_index_gradient(dy.read(), p.indexes, x.shape, 2)), {0, 1, 0, 2, 0, 3, 4, 0});
  const variable plane{{1, 2, 3, 4, 9, 6, 7, 8, 5}, {1, 1, 3, 3}};
  expect_near(values_of(max_pool_with_indexes(plane.read(), 2, {.stride = 1}).indexes), {4, 4, 4, 4});
  // Indexes outside their window are ignored.
  std::int32_t wild[] = {-1, 1, 2, 1 << 30};
  const value indexes(in_any(memory_range{{}, reinterpret_cast<std::uint64_t>(wild), sizeof wild},
                             {.rank = 3, .extents = {1, 2, 2}, .strides = {4, 2, 1}}, dtype::i32));
  expect_near(values_of(max_pool_index_gradient(dy.read(), indexes, x.shape, 2)), numbers(8));
}

TEST(dnn_images, quantization_rounds_f8e8m0_scales_up_to_powers_of_two) {
  const variable x{{448, 7, -100, 0, 0.5, 0.25, 1e-3, 3}, {1, 8}};
  const block_scaled q = quantize_blocks(x.read(), {.along = 1, .block = 3});
  expect_near(values_of(q.scales), {1, 0x1p-9, 0x1p-7});
  expect_near(values_of(q.elements), {448, 7, -96, 0, 256, 128, 0.125, 384});
  EXPECT_EQ(q.elements.type(), dtype::f8e4m3);
  EXPECT_EQ(q.scales.type(), dtype::f8e8m0);
  expect_near(values_of(dequantize_blocks(q.elements, q.scales, 1, 3)), {448, 7, -96, 0, 0.5, 0.25, 0x1p-10, 3});
  const variable edge{{448, 448.0001, nan, 0, infinite}, {5, 1}};
  const block_scaled e = quantize_blocks(edge.read(), {.along = 0, .block = 1});
  expect_near(values_of(e.scales), {1, 2, nan, 0x1p-127, 0x1p127});
  expect_near(values_of(e.elements), {448, 224, nan, 0, 448});
}

TEST(dnn_images, quantization_rounds_f32_and_f8e4m3_scales_to_nearest) {
  const variable x{{12, 3, 0, 0}, {2, 2}};
  const block_scaled f =
      quantize_blocks(x.read(), {.along = 1, .block = 2, .elements = dtype::f8e5m2, .scales = dtype::f32});
  expect_near(values_of(f.scales), {static_cast<double>(static_cast<float>(12.0 / 57344)), 0});
  expect_near(values_of(f.elements), {57344, 14336, 0, 0});
  const block_scaled n =
      quantize_blocks(x.read(), {.along = 1, .block = 2, .elements = dtype::f4e2m1, .scales = dtype::f8e4m3});
  expect_near(values_of(n.scales), {2, 0});
  expect_near(values_of(n.elements), {6, 1.5, 0, 0});
  // Along axis 0, 12 and 0 share a scale, as do 3 and 0.
  expect_near(values_of(quantize_blocks(x.read(), {.along = 0, .block = 2, .elements = dtype::f4e2m1}).scales),
              {2, 0.5});
}

TEST(dnn_images, block_scaling_rounds_to_narrow_types_as_conversions_do) {
  for (const dtype t : {dtype::f8e4m3, dtype::f8e5m2, dtype::f4e2m1})
    for (double v = 0x1p-20; v < 1e6; v *= 1.0009)
      for (const double x : {v, -v, std::ldexp(std::round(std::ldexp(v, 10)), -10)})
        ASSERT_EQ(narrowed(narrow_type_of(t), x), epilogue::nearest_of(t, x)) << to_string(t) << " of " << x;
  for (const dtype t : {dtype::f8e4m3, dtype::f8e5m2, dtype::f4e2m1})
    for (const double x : {0.0, -0.0, infinite, -infinite, 464.0, 5.0, 2.5, 0.25, 0.75, 1e-300})
      EXPECT_EQ(narrowed(narrow_type_of(t), x), epilogue::nearest_of(t, x)) << to_string(t) << " of " << x;
  EXPECT_EQ(power_not_below(1), 1);
  EXPECT_EQ(power_not_below(1.0000001), 2);
  EXPECT_EQ(power_not_below(0), 0x1p-127);
  EXPECT_EQ(power_not_below(1e300), 0x1p127);
}

}  // namespace
}  // namespace troupe::dnn
