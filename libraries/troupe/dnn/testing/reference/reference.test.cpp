// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/base/float8.hpp>
#include <troupe/base/half.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/testing/encoding.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

struct tensor_in {
  extents shape;
  numbers values;
};
// Returns the outputs of a graph of one node.
template <class Attributes>
std::vector<numbers> all_of(op what, const std::vector<tensor_in>& in, const std::vector<extents>& out,
                            const Attributes& f) {
  encoding e;
  e.node(what, {}, {}, f);
  encoded_node& n = e.nodes.back();
  n.input_count = static_cast<std::uint8_t>(in.size()), n.output_count = static_cast<std::uint8_t>(out.size());
  for (std::size_t i = 0; i < in.size(); ++i) n.inputs[i] = e.given(in[i].shape, in[i].values);
  for (std::size_t i = 0; i < out.size(); ++i) n.outputs[i] = e.intermediate(out[i]);
  const auto values = e.values();
  return {values.end() - static_cast<std::ptrdiff_t>(out.size()), values.end()};
}
template <class Attributes>
numbers of(op what, const std::vector<tensor_in>& in, const extents& out, const Attributes& f) {
  return all_of(what, in, {out}, f)[0];
}

void expect_near(const numbers& got, const numbers& expected, double tolerance = 1e-12) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got[i])) << "at " << i << " is " << got[i];
    else
      EXPECT_NEAR(got[i], expected[i], tolerance) << "at " << i;
  }
}

// Returns numbers without a pattern, from -2 to 2.
numbers some(std::size_t count, std::uint32_t seed) {
  numbers out(count);
  for (double& x : out) x = static_cast<double>((seed = seed * 1664525 + 1013904223) >> 16) / 16384 - 2;
  return out;
}
numbers counted(std::size_t count) {
  numbers out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(i);
  return out;
}
double dot(const numbers& a, const numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
// Returns the gradient of `f` at x by finite differences.
template <class F>
numbers finite_differences(numbers x, F f) {
  constexpr double h = 1e-5;
  numbers out;
  for (double& each : x) {
    const double here = each;
    each = here + h;
    const double above = f(x);
    each = here - h;
    const double below = f(x);
    each = here;
    out.push_back((above - below) / (2 * h));
  }
  return out;
}

TEST(dnn_reference, memory_is_read_by_its_type_and_strides) {
  const half channels_last[] = {half(1.0f), half(10.0f), half(2.0f), half(20.0f), half(3.0f), half(30.0f)};
  const std::int8_t bytes[] = {-128, 127};
  encoding e;
  tensor_shape s{.rank = 3, .extents = {1, 2, 3}, .strides = {6, 1, 2}};
  const auto x = e.at(channels_last, dtype::f16, s), y = e.at(bytes, dtype::i8, dense({2})), z = e.number(0.1, 2);
  e.node(op::reshape, {x}, {e.intermediate({6})});
  const auto got = e.values();
  EXPECT_EQ(got[x], (numbers{1, 2, 3, 10, 20, 30}));
  EXPECT_EQ(got[y], (numbers{-128, 127}));
  EXPECT_EQ(got[z], (numbers{0.1}));
}

TEST(dnn_reference, only_writes_and_conversions_round) {
  std::int8_t memory[] = {77, 77, 77, 77};
  encoding e;
  const auto x = e.given({4}, {2.5, 200, nan, 0.1}), same = e.intermediate({4}),
             small = e.intermediate({4}, dtype::f8e4m3), wide = e.intermediate({4}),
             to = e.at(memory, dtype::i8, dense({4}), access_mode::write);
  e.node(op::reshape, {x}, {same});
  e.node(op::convert, {same}, {small});
  e.node(op::convert, {x}, {wide});
  e.node(op::write, {same}, {to});
  const auto got = e.values();
  expect_near(got[same], {2.5, 200, nan, 0.1}, 0);
  expect_near(got[small], {2.5, 192, nan, 0.1015625}, 0);
  expect_near(got[wide], {2.5, 200, nan, static_cast<double>(0.1f)}, 0);
  EXPECT_EQ(got[to], (numbers{2, 127, 0, 0}));
  EXPECT_EQ(memory[0], 77) << "memory was written";
}

TEST(dnn_reference, conversions_round_to_nearest_even_and_saturate_8_bit_types) {
  const auto converted = [](dtype type, double x) {
    encoding e;
    const auto to = e.intermediate({1}, type);
    e.node(op::convert, {e.given({1}, {x})}, {to});
    return e.values()[to][0];
  };
  EXPECT_EQ(converted(dtype::f16, 1.0 + 0x1p-11), 1);
  EXPECT_EQ(converted(dtype::f16, 1.0 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(converted(dtype::f16, 1e6), infinite);
  EXPECT_EQ(converted(dtype::f8e4m3, 1e6), 448);
  EXPECT_EQ(converted(dtype::f8e5m2, -infinite), -57344);
  EXPECT_EQ(converted(dtype::u8, -3), 0);
}

TEST(dnn_reference, extents_of_1_are_broadcast) {
  encoding e;
  const auto x = e.given({2, 3}, {1, 2, 3, 4, 5, 6}), column = e.given({2, 1}, {10, 20}),
             row = e.given({1, 3}, {1, 0, -1}), three = e.number(3), four = e.number(4, 2);
  const auto binary = [&](epilogue::op f, std::uint16_t a, std::uint16_t b) {
    const auto out = e.intermediate({2, 3});
    e.node(op::pointwise, {a, b}, {out}, pointwise_attributes{f, {}});
    return out;
  };
  const auto difference = binary(epilogue::op::subtract, x, column),
             product = binary(epilogue::op::multiply, column, row), quotient = binary(epilogue::op::divide, x, four),
             less = binary(epilogue::op::less, x, three), selected = e.intermediate({2, 3}),
             negated = e.intermediate({2, 3});
  e.node(op::pointwise, {less, row, column}, {selected}, pointwise_attributes{epilogue::op::select, {}});
  e.node(op::pointwise, {x}, {negated}, pointwise_attributes{epilogue::op::negate, {}});
  const auto got = e.values();
  EXPECT_EQ(got[difference], (numbers{-9, -8, -7, -16, -15, -14}));
  EXPECT_EQ(got[product], (numbers{10, 0, -10, 20, 0, -20}));
  EXPECT_EQ(got[quotient], (numbers{0.25, 0.5, 0.75, 1, 1.25, 1.5}));
  EXPECT_EQ(got[less], (numbers{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(got[selected], (numbers{1, 0, 10, 20, 20, 20}));
  EXPECT_EQ(got[negated], (numbers{-1, -2, -3, -4, -5, -6}));
}

TEST(dnn_reference, convolution_does_not_flip_the_filter) {
  const convolution_attributes plain{by_one, 1};
  EXPECT_EQ(of(op::convolution, {{{1, 1, 4}, {1, 2, 3, 4}}, {{1, 1, 2}, {10, 1}}}, {1, 1, 3}, plain),
            (numbers{12, 23, 34}));
  EXPECT_EQ(of(op::convolution, {{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}}, {1, 1, 1, 2},
               plain),
            (numbers{5421, 6532}));
}

TEST(dnn_reference, convolution_applies_padding_stride_and_dilation) {
  // The image with its padding is 0 1 2 3 4 5 0 0; windows of 3 elements with gaps between them start at 0 and 3.
  const convolution_attributes a{{{{1, 2, 3, 2}}}, 1};
  EXPECT_EQ(of(op::convolution, {{{1, 1, 5}, {1, 2, 3, 4, 5}}, {{1, 1, 3}, {1, 10, 100}}}, {1, 1, 2}, a),
            (numbers{420, 53}));
}

TEST(dnn_reference, each_group_of_channels_has_its_own_filters) {
  const tensor_in x{{2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}, filters{{2, 2, 1}, {1, 10, 100, 1000}};
  EXPECT_EQ(of(op::convolution, {x, filters}, {2, 2, 1}, convolution_attributes{by_one, 2}),
            (numbers{21, 4300, 65, 8700}));
  const tensor_in dense_filters{{1, 4, 1}, {1, 10, 100, 1000}};
  EXPECT_EQ(of(op::convolution, {x, dense_filters}, {2, 1, 1}, convolution_attributes{by_one, 1}),
            (numbers{4321, 8765}));
}

TEST(dnn_reference, gradients_of_a_convolution_sum_over_all_products) {
  const tensor_in dy{{1, 1, 3}, {1, 2, 3}}, filters{{1, 1, 2}, {10, 1}}, x{{1, 1, 4}, {1, 2, 3, 4}};
  const convolution_attributes a{by_one, 1};
  EXPECT_EQ(of(op::convolution_data_gradient, {dy, filters}, {1, 1, 4}, a), (numbers{10, 21, 32, 3}));
  EXPECT_EQ(of(op::convolution_weight_gradient, {dy, x}, {1, 1, 2}, a), (numbers{14, 20}));
}

TEST(dnn_reference, gradients_of_a_convolution_are_adjoint_to_it) {
  struct {
    extents x, filters, y;
    convolution_attributes a;
  } const cases[] = {
      {{2, 4, 7}, {6, 2, 3}, {2, 6, 4}, {{{{1, 2, 2, 1}}}, 2}},
      {{2, 3, 6, 5}, {3, 1, 3, 2}, {2, 3, 2, 6}, {{{{0, 1, 2, 2}, {2, 0, 1, 1}}}, 3}},
      {{1, 2, 3, 4, 5}, {2, 2, 2, 1, 3}, {1, 2, 4, 2, 3}, {{{{1, 1, 1, 1}, {0, 0, 2, 1}, {1, 0, 1, 1}}}, 1}}};
  for (const auto& c : cases) {
    const auto random = [](const extents& e, std::uint32_t seed) {
      return tensor_in{e, some(static_cast<std::size_t>(elements_of(dense(e))), seed)};
    };
    const tensor_in x = random(c.x, 1), filters = random(c.filters, 2), dy = random(c.y, 3);
    const double expected = dot(dy.values, of(op::convolution, {x, filters}, c.y, c.a));
    EXPECT_NEAR(dot(x.values, of(op::convolution_data_gradient, {dy, filters}, c.x, c.a)), expected, 1e-9);
    EXPECT_NEAR(dot(filters.values, of(op::convolution_weight_gradient, {dy, x}, c.filters, c.a)), expected, 1e-9);
  }
}

TEST(dnn_reference, product_multiplies_the_matrices_of_a_batch) {
  const tensor_in a{{2, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 0, 1}}, b{{1, 3, 2}, {1, 10, 2, 20, 3, 30}};
  EXPECT_EQ(of(op::product, {a, b}, {2, 2, 2}, node_attributes{}), (numbers{14, 140, 32, 320, 1, 10, 3, 30}));
  EXPECT_EQ(of(op::product, {{{1, 2}, {3, 4}}, {{2, 1}, {5, 6}}}, {1, 1}, node_attributes{}), (numbers{39}));
}

TEST(dnn_reference, reduction_combines_the_elements_along_the_given_axes) {
  const tensor_in x{{2, 3}, {1, -2, 3, -4, 0.5, 2}};
  const auto rows = [&](reduction_kind kind) { return of(op::reduction, {x}, {2, 1}, reduction_attributes{2, kind}); };
  EXPECT_EQ(rows(reduction_kind::sum), (numbers{2, -1.5}));
  EXPECT_EQ(rows(reduction_kind::mean), (numbers{2.0 / 3, -0.5}));
  EXPECT_EQ(rows(reduction_kind::maximum), (numbers{3, 2}));
  EXPECT_EQ(rows(reduction_kind::minimum), (numbers{-2, -4}));
  EXPECT_EQ(rows(reduction_kind::product), (numbers{-6, -4}));
  EXPECT_EQ(rows(reduction_kind::absolute_maximum), (numbers{3, 4}));
  EXPECT_EQ(rows(reduction_kind::norm1), (numbers{6, 6.5}));
  EXPECT_EQ(rows(reduction_kind::norm2), (numbers{std::sqrt(14), std::sqrt(20.25)}));
  EXPECT_EQ(of(op::reduction, {x}, {1, 3}, reduction_attributes{1, reduction_kind::sum}), (numbers{-3, -1.5, 5}));
  EXPECT_EQ(of(op::reduction, {x}, {1, 1}, reduction_attributes{3, reduction_kind::mean}), (numbers{0.5 / 6}));
}

TEST(dnn_reference, maximum_and_minimum_propagate_nan) {
  for (const numbers& x : {numbers{nan, 1}, numbers{1, nan}})
    for (const auto kind : {reduction_kind::maximum, reduction_kind::minimum, reduction_kind::absolute_maximum})
      expect_near(of(op::reduction, {{{2}, x}}, {1}, reduction_attributes{1, kind}), {nan});
}

TEST(dnn_reference, normalization_of_a_batch_updates_running_averages) {
  // Channel 0 is 1 3 5 7, with mean 4 and variance 5. Channel 1 is 2 2 2 2.
  const normalization_attributes a{
      .over = 0b101, .groups = 1, .rms = 0, .has_affine = 1, .has_running = 1, .epsilon = 4, .momentum = 0.25};
  const auto got = all_of(op::normalization,
                          {{{2, 2, 2}, {1, 3, 2, 2, 5, 7, 2, 2}},
                           {{1, 2, 1}, {3, 10}},
                           {{1, 2, 1}, {100, 0.5}},
                           {{1, 2, 1}, {8, 0}},
                           {{1, 2, 1}, {4, 4}}},
                          {{2, 2, 2}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}}, a);
  expect_near(got[0], {97, 99, 0.5, 0.5, 101, 103, 0.5, 0.5});
  expect_near(got[1], {4, 2});
  expect_near(got[2], {1.0 / 3, 0.5});
  expect_near(got[3], {7, 0.5});
  expect_near(got[4], {3 + 0.25 * 5 * 4 / 3, 3});
}

TEST(dnn_reference, the_variance_of_one_element_is_not_corrected) {
  const normalization_attributes a{
      .over = 1, .groups = 1, .rms = 0, .has_affine = 0, .has_running = 1, .epsilon = 1, .momentum = 0.5};
  const auto got = all_of(op::normalization, {{{1, 1}, {6}}, {{1, 1}, {0}}, {{1, 1}, {8}}},
                          {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, a);
  EXPECT_EQ(got, (std::vector<numbers>{{0}, {6}, {1}, {3}, {4}}));
}

TEST(dnn_reference, normalization_divides_channels_into_groups_of_neighbors) {
  const normalization_attributes a{
      .over = 0b110, .groups = 2, .rms = 0, .has_affine = 1, .has_running = 0, .epsilon = 0, .momentum = 0};
  const auto got =
      all_of(op::normalization, {{{1, 4, 1}, {1, 3, 10, 50}}, {{1, 4, 1}, {1, 2, 3, 4}}, {{1, 4, 1}, {0, 0, 0, 1}}},
             {{1, 4, 1}, {1, 2, 1}, {1, 2, 1}}, a);
  expect_near(got[0], {-1, 2, -3, 5});
  expect_near(got[1], {2, 30});
  expect_near(got[2], {1, 0.05});
}

TEST(dnn_reference, rms_normalization_divides_by_the_root_mean_square) {
  const normalization_attributes a{
      .over = 2, .groups = 1, .rms = 1, .has_affine = 1, .has_running = 0, .epsilon = 3.5, .momentum = 0};
  const auto got = all_of(op::normalization, {{{1, 2}, {3, 4}}, {{1, 2}, {1, 10}}}, {{1, 2}, {1, 1}, {1, 1}}, a);
  expect_near(got[0], {0.75, 10});
  expect_near(got[1], {0});
  expect_near(got[2], {0.25});
}

TEST(dnn_reference, gradient_of_a_normalization_matches_values_computed_by_hand) {
  // A row of 1 and 3: the mean is 2, the deviation 1, and the normalized elements are -1 and 1.
  const normalization_attributes a{
      .over = 2, .groups = 1, .rms = 0, .has_affine = 1, .has_running = 0, .epsilon = 0, .momentum = 0};
  const std::vector<tensor_in> in{
      {{1, 3}, {2, 1, 1}}, {{1, 3}, {1, 2, 3}}, {{1, 1}, {2}}, {{1, 1}, {0.5}}, {{1, 3}, {1, 2, 4}}};
  const auto got = all_of(op::normalization_gradient, in, {{1, 3}, {1, 3}, {1, 3}}, a);
  // g = dy * scale is 2 2 4, and the normalized x is -0.5 0 0.5. The mean of g is 8/3, that of g * normalized x is 1/3.
  expect_near(got[0], {0.5 * (2 - 8.0 / 3 + 0.5 / 3), 0.5 * (2 - 8.0 / 3), 0.5 * (4 - 8.0 / 3 - 0.5 / 3)});
  expect_near(got[1], {-1, 0, 0.5});
  expect_near(got[2], {2, 1, 1});
}

TEST(dnn_reference, gradients_of_normalizations_match_finite_differences) {
  struct {
    extents x, statistics, scale;
    normalization_attributes a;
  } const cases[] = {{{2, 4, 3}, {1, 4, 1}, {1, 4, 1}, {.over = 0b101, .groups = 1, .rms = 0, .has_affine = 1}},
                     {{2, 4, 3}, {2, 1, 1}, {1, 4, 3}, {.over = 0b110, .groups = 1, .rms = 0, .has_affine = 1}},
                     {{2, 4, 3}, {2, 2, 1}, {1, 4, 1}, {.over = 0b110, .groups = 2, .rms = 0, .has_affine = 1}},
                     {{2, 4, 3}, {2, 4, 1}, {1, 1, 3}, {.over = 0b100, .groups = 1, .rms = 1, .has_affine = 1}},
                     {{2, 4, 3}, {2, 4, 1}, {}, {.over = 0b100, .groups = 1, .rms = 0, .has_affine = 0}}};
  for (const auto& c : cases) {
    normalization_attributes a = c.a;
    a.epsilon = 0.125;
    const auto size = static_cast<std::size_t>(elements_of(dense(c.scale)));
    const tensor_in dy{c.x, some(24, 1)}, x{c.x, some(24, 2)}, scale{c.scale, some(size, 3)},
        offset{c.scale, some(size, 4)};
    const auto forward = [&](const numbers& with_x, const numbers& with_scale, const numbers& with_offset) {
      std::vector<tensor_in> in{{c.x, with_x}};
      if (a.has_affine) in.push_back({c.scale, with_scale});
      if (a.has_affine && !a.rms) in.push_back({c.scale, with_offset});
      return all_of(op::normalization, in, {c.x, c.statistics, c.statistics}, a);
    };
    const auto y = forward(x.values, scale.values, offset.values);
    std::vector<tensor_in> in{dy, x, {c.statistics, y[1]}, {c.statistics, y[2]}};
    if (a.has_affine) in.push_back(scale);
    std::vector<extents> out{c.x};
    if (a.has_affine) out.push_back(c.scale);
    if (a.has_affine && !a.rms) out.push_back(c.scale);
    const auto got = all_of(op::normalization_gradient, in, out, a);
    expect_near(
        got[0],
        finite_differences(
            x.values, [&](const numbers& v) { return dot(dy.values, forward(v, scale.values, offset.values)[0]); }),
        1e-7);
    if (out.size() > 1)
      expect_near(
          got[1],
          finite_differences(scale.values,
                             [&](const numbers& v) { return dot(dy.values, forward(x.values, v, offset.values)[0]); }),
          1e-7);
    if (out.size() > 2)
      expect_near(
          got[2],
          finite_differences(offset.values,
                             [&](const numbers& v) { return dot(dy.values, forward(x.values, scale.values, v)[0]); }),
          1e-7);
  }
}

TEST(dnn_reference, pooling_windows_can_extend_beyond_the_image) {
  const tensor_in x{{1, 1, 5}, {-1, -2, -3, -4, -5}};
  // Windows of 3 elements start at -1, 1 and 3. The last element of the last window is outside the image.
  pooling_attributes a{{3}, {{{1, 1, 2, 1}}}, pooling_kind::maximum};
  EXPECT_EQ(of(op::pooling, {x}, {1, 1, 3}, a), (numbers{-1, -2, -4}));
  a.kind = pooling_kind::mean;
  EXPECT_EQ(of(op::pooling, {x}, {1, 1, 3}, a), (numbers{-1, -3, -3}));
  a.kind = pooling_kind::mean_of_image;
  EXPECT_EQ(of(op::pooling, {x}, {1, 1, 3}, a), (numbers{-1.5, -3, -4.5}));
}

TEST(dnn_reference, pooling_skips_elements_by_the_dilation_of_each_axis) {
  const tensor_in x{{1, 2, 3, 3}, counted(18)};
  const pooling_attributes a{{2, 2}, {{{0, 0, 1, 2}, {0, 0, 1, 1}}}, pooling_kind::mean};
  EXPECT_EQ(of(op::pooling, {x}, {1, 2, 1, 2}, a), (numbers{3.5, 4.5, 12.5, 13.5}));
}

TEST(dnn_reference, pooling_propagates_nan) {
  const pooling_attributes a{{2}, by_one, pooling_kind::maximum};
  expect_near(of(op::pooling, {{{1, 1, 4}, {1, nan, 2, 3}}}, {1, 1, 3}, a), {nan, nan, 3});
}

TEST(dnn_reference, max_pooling_passes_the_gradient_to_the_first_largest_element) {
  const pooling_attributes a{{2}, by_one, pooling_kind::maximum};
  const tensor_in dy{{1, 1, 4}, {1, 10, 100, 1000}};
  EXPECT_EQ(of(op::pooling_gradient, {dy, {{1, 1, 5}, {2, 2, 1, 3, 3}}}, {1, 1, 5}, a), (numbers{1, 10, 0, 1100, 0}));
  EXPECT_EQ(of(op::pooling_gradient, {dy, {{1, 1, 5}, {2, nan, nan, 3, 4}}}, {1, 1, 5}, a),
            (numbers{0, 11, 100, 0, 1000}));
}

TEST(dnn_reference, mean_pooling_distributes_the_gradient_over_the_window) {
  const tensor_in dy{{1, 1, 3}, {6, 12, 18}};
  pooling_attributes a{{3}, {{{1, 1, 2, 1}}}, pooling_kind::mean};
  EXPECT_EQ(of(op::pooling_gradient, {dy}, {1, 1, 5}, a), (numbers{2, 6, 4, 10, 6}));
  a.kind = pooling_kind::mean_of_image;
  EXPECT_EQ(of(op::pooling_gradient, {dy}, {1, 1, 5}, a), (numbers{3, 7, 4, 13, 9}));
}

TEST(dnn_reference, softmax_is_computed_along_one_axis) {
  const tensor_in x{{2, 2}, {0, std::log(4.0), std::log(3.0), std::log(4.0)}};
  expect_near(of(op::softmax, {x}, {2, 2}, softmax_attributes{1, 0}), {0.2, 0.8, 3.0 / 7, 4.0 / 7});
  expect_near(of(op::softmax, {x}, {2, 2}, softmax_attributes{0, 0}), {0.25, 0.5, 0.75, 0.5});
  expect_near(of(op::softmax, {x}, {2, 2}, softmax_attributes{0, 1}),
              {std::log(0.25), std::log(0.5), std::log(0.75), std::log(0.5)});
  expect_near(of(op::softmax, {{{2}, {1000, -1000}}}, {2}, softmax_attributes{0, 1}), {0, -2000});
  expect_near(of(op::softmax, {{{2}, {-infinite, 1}}}, {2}, softmax_attributes{0, 0}), {0, 1});
  expect_near(of(op::softmax, {{{2}, {-infinite, -infinite}}}, {2}, softmax_attributes{0, 0}), {nan, nan});
}

TEST(dnn_reference, gradient_of_softmax_matches_finite_differences) {
  const tensor_in dy{{1, 2}, {1, 3}};
  expect_near(of(op::softmax_gradient, {dy, {{1, 2}, {0.25, 0.75}}}, {1, 2}, softmax_attributes{1, 0}),
              {-0.375, 0.375});
  expect_near(
      of(op::softmax_gradient, {dy, {{1, 2}, {std::log(0.25), std::log(0.75)}}}, {1, 2}, softmax_attributes{1, 1}),
      {0, 0});
  for (const std::int64_t logarithmic : {0, 1}) {
    const softmax_attributes a{0, logarithmic};
    const tensor_in x{{3, 2}, some(6, 1)}, weights{{3, 2}, some(6, 2)};
    const auto forward = [&](const numbers& v) { return of(op::softmax, {{{3, 2}, v}}, {3, 2}, a); };
    expect_near(of(op::softmax_gradient, {weights, {{3, 2}, forward(x.values)}}, {3, 2}, a),
                finite_differences(x.values, [&](const numbers& v) { return dot(weights.values, forward(v)); }), 1e-8);
  }
}

TEST(dnn_reference, shape_operations_move_elements) {
  const tensor_in x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(of(op::reshape, {x}, {3, 1, 2}, node_attributes{}), (numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(of(op::transposition, {x}, {3, 2}, transposition_attributes{{1, 0}}), (numbers{1, 4, 2, 5, 3, 6}));
  // A transposition from 2 x 3 x 2 to 2 x 2 x 3 that is not its own inverse.
  EXPECT_EQ(of(op::transposition, {{{2, 3, 2}, counted(12)}}, {2, 2, 3}, transposition_attributes{{2, 0, 1}}),
            (numbers{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(of(op::concatenation, {x, {{2, 1}, {7, 8}}}, {2, 4}, concatenation_attributes{1}),
            (numbers{1, 2, 3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(of(op::concatenation, {x, {{1, 3}, {7, 8, 9}}}, {3, 3}, concatenation_attributes{0}),
            (numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(of(op::slice, {x}, {1, 2}, slice_attributes{{1, 1}, {1, 1}}), (numbers{5, 6}));
}

}  // namespace
}  // namespace troupe::dnn
