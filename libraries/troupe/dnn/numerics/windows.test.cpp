// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares convolutions, pooling and their gradients with the reference in double precision.
#include <troupe/dnn/testing/numerics.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {
namespace {

using namespace testing;

constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::i8};

class dnn_windows : public dnn_numerics {
 protected:
  struct problem {
    extents x, filters;
    convolution_options options;
    std::int64_t spatial;
  };
  static per_axis of(const std::vector<std::int64_t>& n) {
    if (n.size() == 1) return n[0];
    return n.size() == 2 ? per_axis({n[0], n[1]}) : per_axis({n[0], n[1], n[2]});
  }
  per_axis each(std::int64_t spatial, std::int64_t low, std::int64_t high) {
    std::vector<std::int64_t> n;
    for (std::int64_t i = 0; i < spatial; ++i) n.push_back(random.between(low, high));
    return of(n);
  }
  problem any_convolution() {
    problem p;
    p.spatial = random.between(1, 3);
    // Vendors' engines for half types need numbers of channels that are multiples of 8.
    const bool eights = random.between(0, 2) == 0;
    const std::int64_t groups = random.one_of<std::int64_t>({1, 1, 2, 3}),
                       in = eights ? 8 * random.between(1, 2) : random.between(1, 5),
                       out = eights ? 8 * random.between(1, 2) : random.between(1, 5);
    // Another kernel computes convolutions with a group for each channel.
    const bool depthwise = random.between(0, 4) == 0;
    p.options.groups = depthwise ? in : groups;
    p.x = {random.between(1, 3), depthwise ? in : in * groups};
    p.filters = {depthwise ? in * random.between(1, 2) : out * groups, depthwise ? 1 : in};
    p.options.padding = each(p.spatial, 0, 2);
    if (random.between(0, 1) == 0) p.options.padding_after = each(p.spatial, 0, 2);
    p.options.stride = each(p.spatial, 1, 3), p.options.dilation = each(p.spatial, 1, 2);
    const bool pointwise = random.between(0, 4) == 0;
    if (pointwise) p.options.padding = 0, p.options.padding_after = 0, p.options.stride = 1;
    for (std::int64_t i = 0; i < p.spatial; ++i) {
      p.filters.push_back(pointwise ? 1 : random.between(1, 4));
      p.x.push_back(random.between(7, p.spatial == 3 ? 9 : 14));
    }
    return p;
  }
  static std::string text_of(const problem& p) {
    const auto text = [&](const per_axis& n) {
      std::string out;
      for (std::int64_t i = 0; i < p.spatial; ++i) out += std::to_string(n[static_cast<std::size_t>(i)]) + " ";
      return out;
    };
    const auto& o = p.options;
    return "x " + ::testing::PrintToString(p.x) + ", filters " + ::testing::PrintToString(p.filters) + ", padding " +
           text(o.padding) + (o.padding_after.count() != 0 ? "and " + text(o.padding_after) : "") + ", stride " +
           text(o.stride) + ", dilation " + text(o.dilation) + ", groups " + std::to_string(o.groups);
  }
  // Applies a random function to a convolution's result.
  value followed(const value& y, const extents& e, const value& x, const value& filters, const problem& p) {
    switch (random.between(0, 8)) {
      case 0:
      case 1:
        return y + channels(given(dtype::f32, {e[1]}), e.size());
      case 2:
        return y * channels(given(dtype::f32, {e[1]}), e.size());
      case 3:
        return y * random.value() + random.value();
      case 4:
        return y + given(random.one_of({dtype::f32, dtype::f16}), e);
      case 5:
        return y + tanh(y);
      case 6:
        return convolution(x, filters, p.options) + y;
      case 7:
        return relu(y);
      default:
        return random.one_of({silu(y), gelu(y), gelu_tanh(y), tanh(y), sigmoid(y), hard_swish(y), abs(y), -y});
    }
  }
  static double rounding_of(std::int64_t summands) { return 2e-6 + 3e-7 * static_cast<double>(summands); }
};

std::int64_t product_of(const extents& e) {
  std::int64_t n = 1;
  for (const std::int64_t i : e) n *= i;
  return n;
}

TEST_F(dnn_windows, convolutions_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      const problem p = any_convolution();
      SCOPED_TRACE(text_of(p));
      const value y = convolution(given(t, p.x), given(t, p.filters), p.options);
      expect_as_defined({y}, t == dtype::i8 ? dtype::i32 : random.one_of({t, dtype::f32}),
                        rounding_of(product_of(p.filters) / p.filters[0]));
    }
}

TEST_F(dnn_windows, gradients_of_convolutions_match_the_definition) {
  for (const dtype t : types)
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      const problem p = any_convolution();
      SCOPED_TRACE(text_of(p));
      const value x = given(t, p.x), filters = given(t, p.filters), y = convolution(x, filters, p.options);
      ASSERT_EQ(y.why_refused(), "");
      const value dy = given(t, extents(y.extents().begin(), y.extents().end()));
      const dtype d = t == dtype::i8 ? dtype::i32 : dtype::f32;
      expect_as_defined({convolution_data_gradient(dy, filters, p.x, p.options)}, d,
                        rounding_of(product_of(p.filters)));
      expect_as_defined({convolution_weight_gradient(dy, x, p.filters, p.options)}, d,
                        rounding_of(product_of(extents(y.extents().begin(), y.extents().end()))));
    }
}

TEST_F(dnn_windows, convolutions_of_images_with_channels_last_match_the_definition) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    const problem p = any_convolution();
    SCOPED_TRACE(text_of(p));
    const value y =
        convolution(given(dtype::f16, p.x, channels_last), given(dtype::f16, p.filters, channels_last), p.options);
    const value bias = given(dtype::f32, {p.filters[0]});
    expect_as_defined({relu(y + channels(bias, p.x.size()))}, dtype::f16, rounding_of(product_of(p.filters)));
  }
}

// The functions are those that vendors' libraries fuse with a convolution: functions of one tensor, and the sum or
// product with a tensor that has one element for each channel or the extents of the image.
TEST_F(dnn_windows, functions_of_a_convolution_match_the_definition) {
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    const problem p = any_convolution();
    SCOPED_TRACE(text_of(p));
    const dtype t = random.one_of({dtype::f32, dtype::f32, dtype::f16, dtype::bf16});
    const auto storing = random.one_of({anyhow, dense, channels_last});
    const value x = given(t, p.x, storing), filters = given(t, p.filters, storing);
    value y = convolution(x, filters, p.options);
    ASSERT_EQ(y.why_refused(), "");
    const extents e(y.extents().begin(), y.extents().end());
    std::vector<value> written;
    const std::int64_t length = random.between(1, 5);
    for (std::int64_t k = 0; k < length; ++k) {
      if (random.between(0, 5) == 0) written.push_back(y);
      y = followed(y, e, x, filters, p);
    }
    written.push_back(y);
    expect_as_defined(written, random.one_of({dtype::f32, dtype::f32, t}), 20 * rounding_of(product_of(p.filters)));
  }
}

// Each convolution adds a tensor that the convolution before it has just written: their launches must not overlap.
TEST_F(dnn_windows, a_convolution_reads_the_complete_result_of_the_convolution_before_it) {
  for (const std::int64_t groups : {1, 3})
    for (const std::int64_t channels_in : {24, 96})
      for (const dtype t : {dtype::f16, dtype::bf16}) {
        const extents e{2, channels_in, 9, 11};
        const value x = given(t, e, channels_last),
                    filters = given(t, {channels_in, channels_in / groups, 3, 3}, channels_last);
        value y = given(dtype::f32, e, channels_last);
        for (int i = 0; i < 5; ++i) y = sigmoid(convolution(x, filters, {.padding = 1, .groups = groups})) + y;
        // In the first run, the loading of kernels would keep launches apart.
        for (int run = 0; run < 5 && !HasFailure(); ++run) expect_as_defined({y}, dtype::f32, 1e-2);
      }
}

// A part of a network in which only the next convolution reads each image.
TEST_F(dnn_windows, consecutive_convolutions_match_the_definition) {
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    const dtype t = random.one_of({dtype::f32, dtype::f32, dtype::f16});
    const std::int64_t few = random.between(1, 9), many = random.one_of<std::int64_t>({16, 20, 32});
    const auto storing = random.one_of({anyhow, dense, channels_last});
    const auto filters = [&](std::int64_t to, std::int64_t from, std::int64_t width) {
      const value all = given(t, {to, from, width, width}, storing);
      return random.between(0, 3) == 0 ? convert(all * 0.5, t) : all;
    };
    const value x = given(t, {random.between(1, 2), few, 8, 9}, storing), bias = given(dtype::f32, {many});
    const value h = 0.25 * relu(convolution(x, filters(many, few, 1)) + channels(bias));
    const value k = 0.1 * silu(convolution(convert(h, t), filters(many, many, 3), {.padding = 1}) + channels(bias));
    const value sum = convolution(convert(k, t), filters(many, many, 1)) + convolution(x, filters(many, few, 1)) +
                      (random.between(0, 1) == 0 ? h : value(0.5));
    std::vector<value> written{relu(sum)};
    if (random.between(0, 1) == 0) written.push_back(k);
    if (random.between(0, 1) == 0) written.push_back(max_pool(sum, 2) * 0.5);
    expect_as_defined(written, random.one_of({dtype::f32, t}), 2e-2);
    if (t == dtype::f32) expect_as_defined({relu(sum)}, t, 1e-4);
  }
}

TEST_F(dnn_windows, functions_of_a_convolution_propagate_nan) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t channels_in : {3, 16, 32})
    for (const auto storing : {dense, channels_last}) {
      const extents e{1, channels_in, 9, 9};
      const value filters = given(dtype::f32, {32, channels_in, 3, 3}), bias = given(dtype::f32, {32});
      // One element in 200 is NaN, so that some windows have none.
      const value r = given(dtype::f32, e, storing),
                  x = pointwise(epilogue::op::select, pointwise(epilogue::op::less, 0.99, r), none, r);
      const value y = convolution(x, filters, {.padding = 1}) + channels(bias);
      for (const value& v : {relu(y), silu(y), gelu(y), gelu_tanh(y), tanh(y), sigmoid(y), hard_swish(y), abs(y)})
        expect_as_defined({v}, dtype::f32, 1e-3);
    }
}

TEST_F(dnn_windows, transposed_convolutions_match_the_definition) {
  const value x = given(dtype::f32, {2, 4, 5, 6}), filters = given(dtype::f32, {4, 3, 3, 2});
  const value y = transposed_convolution(x, filters, {.padding = {1, 0}, .stride = {2, 3}, .groups = 2}, {1, 2});
  ASSERT_EQ(extents(y.extents().begin(), y.extents().end()), (extents{2, 6, 10, 19}));
  expect_as_defined({y}, dtype::f32, 1e-5);
}

TEST_F(dnn_windows, pooling_and_its_gradients_match_the_definition) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::f16, dtype::bf16})
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      const std::int64_t spatial = random.between(1, 3);
      extents e{random.between(1, 2), random.between(1, 4)};
      for (std::int64_t k = 0; k < spatial; ++k) e.push_back(random.between(4, 9));
      const per_axis window = each(spatial, 2, 3);
      pooling_options o{.padding = each(spatial, 0, 1), .padding_after = each(spatial, 0, 1)};
      if (random.between(0, 1) == 0) o.stride = each(spatial, 1, 3);
      const value x = given(t, e);
      for (const auto& y : {max_pool(x, window, o), mean_pool(x, window, o), mean_pool(x, window, o, false)})
        expect_as_defined({y}, t, 1e-6);
      const value y = max_pool(x, window, o);
      const value dy = given(t, extents(y.extents().begin(), y.extents().end()));
      expect_as_defined({max_pool_gradient(dy, x, window, o), mean_pool_gradient(dy, e, window, o),
                         mean_pool_gradient(dy, e, window, o, false)},
                        t, 1e-5);
    }
}

}  // namespace
}  // namespace troupe::dnn
