// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong convolutions are refused before they are queued, and the exact error text for each kind of mistake.
#include <gtest/gtest.h>

#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/half.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::acc, epilogue::left, epilogue::load, epilogue::right;
using extents = std::initializer_list<extent>;

class cutlass_convolution_checks : public ::testing::Test {
 protected:
  template <class T>
  tensor<T> at(std::uint64_t first, extents e) {
    std::uint64_t n = 1;
    for (const extent i : e) n *= static_cast<std::uint64_t>(i.value());
    return tensor<T>(buffer<T>(memory.at<T>(first, n).range), e);
  }
  template <class T>
  buffer<T> vector_at(std::uint64_t first, std::uint64_t n) {
    return buffer<T>(memory.at<T>(first, n).range);
  }
  // A convolution of 2 images with 4 channels by 6 filters of 3 x 3.
  conv_forward forward(const epilogue::expression& e = acc) {
    return {.x = at<float>(0, {2, 4, 5, 6}),
            .filters = at<float>(300, {6, 4, 3, 3}),
            .y = at<float>(600, {2, 6, 5, 6}),
            .epilogue = e,
            .padding = 1};
  }
  conv_data_gradient data() {
    const conv_forward f = forward();
    return {.dy = in_any(f.y.range(), f.y.shape(), f.y.type()),
            .filters = f.filters,
            .dx = at<float>(0, {2, 4, 5, 6}),
            .padding = 1};
  }
  conv_weight_gradient weights() {
    const conv_forward f = forward();
    return {.dy = in_any(f.y.range(), f.y.shape(), f.y.type()),
            .x = f.x,
            .dfilters = at<float>(300, {6, 4, 3, 3}),
            .padding = 1};
  }
  template <class R>
  void expect_fine(const R& r) {
    EXPECT_EQ(memory.refusal(r), "") << describe(r);
  }
  template <class R>
  void expect_refused(const R& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), std::string(name_of<R>()) + ": " + text) << describe(r);
  }
  // Expects that `r` is refused after `change(r)`.
  template <class R, class Change>
  void expect_refused(R r, Change change, const std::string& text) {
    change(r);
    expect_refused(r, text);
  }

  troupe::testing::fake_memory memory{1 << 20};
};

TEST_F(cutlass_convolution_checks, valid_requests_are_accepted) {
  expect_fine(forward());
  expect_fine(data());
  expect_fine(weights());
  expect_fine(forward(relu(acc + epilogue::row(vector_at<float>(2000, 6)))));
  expect_fine(conv_forward{.x = at<half>(0, {1, 4, 9}),
                           .filters = at<std::int8_t>(300, {2, 4, 3}),
                           .y = at<float8_e4m3>(600, {1, 2, 4}),
                           .stride = 2});
  expect_fine(conv_forward{.x = at<std::int8_t>(0, {1, 4, 3, 3, 3}),
                           .filters = at<std::int8_t>(300, {4, 1, 2, 2, 2}),
                           .y = at<std::int32_t>(600, {1, 4, 2, 2, 2}),
                           .groups = 4});
  expect_fine(prepare{forward(), 3});
  expect_fine(prepare{data()});
  expect_fine(prepare{weights()});
}

TEST_F(cutlass_convolution_checks, a_refusal_of_extents_names_the_tensor) {
  expect_refused(forward(), [&](auto& r) { r.x = at<float>(0, {2, 4}); }, "x has 2 axes; expected 3 to 5");
  expect_refused(forward(), [&](auto& r) { r.y = at<float>(600, {2, 6, 30}); }, "y has 3 axes; expected 4, as x has");
  expect_refused(
      forward(), [&](auto& r) { r.filters = at<float>(300, {6, 4, 3}); }, "filters has 3 axes; expected 4, as x has");
  expect_refused(
      forward(), [&](auto& r) { r.y = at<float>(600, {1, 6, 5, 6}); },
      "y is 1 x 6 x 5 x 6; expected 2 x 6 x 5 x 6, as the convolution's result has");
  expect_refused(
      forward(), [&](auto& r) { r.filters = at<float>(300, {5, 4, 3, 3}); },
      "y is 2 x 6 x 5 x 6; expected 2 x 5 x 5 x 6, as the convolution's result has");
  expect_refused(
      forward(), [&](auto& r) { r.filters = at<float>(300, {6, 3, 3, 3}); },
      "filters is 6 x 3 x 3 x 3, with 3 input channels; expected 4, as the image has");
  expect_refused(
      forward(), [&](auto& r) { r.groups = 2; },
      "filters is 6 x 4 x 3 x 3, with 4 input channels; expected 2, as a group of the image has");
  expect_refused(
      forward(), [&](auto& r) { r.y = at<float>(600, {2, 6, 5, 5}); },
      "y is 2 x 6 x 5 x 5; expected 2 x 6 x 5 x 6, as the convolution's result has");
  expect_refused(
      forward(), [&](auto& r) { r.dilation = 4; },
      "filters is 6 x 4 x 3 x 3; expected a window that fits into the padded image; x is 2 x 4 x 5 x 6");
  expect_refused(
      data(), [&](auto& r) { r.dx = at<float>(0, {2, 4, 6, 6}); },
      "dy is 2 x 6 x 5 x 6; expected 2 x 6 x 6 x 6, as the convolution's result has");
  expect_refused(
      data(), [&](auto& r) { r.dx = at<float>(0, {2, 2, 5, 6}); },
      "filters is 6 x 4 x 3 x 3, with 4 input channels; expected 2, as the image has");
  expect_refused(
      weights(), [&](auto& r) { r.dfilters = at<float>(300, {6, 4, 2, 3}); },
      "dy is 2 x 6 x 5 x 6; expected 2 x 6 x 6 x 6, as the convolution's result has");
  expect_refused(
      weights(), [&](auto& r) { r.dfilters = at<float>(300, {7, 4, 3, 3}); },
      "dy is 2 x 6 x 5 x 6; expected 2 x 7 x 5 x 6, as the convolution's result has");
}

TEST_F(cutlass_convolution_checks, an_extent_of_0_is_accepted_for_images_only) {
  conv_forward none = forward();
  none.x = at<float>(0, {0, 4, 5, 6}), none.y = at<float>(600, {0, 6, 5, 6});
  expect_fine(none);
  expect_refused(
      forward(), [&](auto& r) { r.x = at<float>(0, {2, 0, 5, 6}); },
      "x is 2 x 0 x 5 x 6; expected extents of at least 1, except the number of images");
  expect_refused(
      forward(), [&](auto& r) { r.filters = at<float>(300, {6, 4, 0, 3}); },
      "filters is 6 x 4 x 0 x 3; expected extents of at least 1");
}

TEST_F(cutlass_convolution_checks, a_refusal_of_window_parameters_names_the_field) {
  expect_refused(forward(), [](auto& r) { r.groups = 0; }, "groups is 0; expected at least 1");
  expect_refused(
      forward(), [](auto& r) { r.groups = 4; },
      "groups is 4; expected a divisor of the 4 channels and of the 6 filters");
  expect_refused(
      forward(), [](auto& r) { r.padding = {1, 1, 1}; },
      "padding has 3 numbers; expected 2, one for each spatial axis, or one number for all");
  expect_refused(
      forward(), [](auto& r) { r.padding = per_axis(); },
      "padding is not given; expected 2, one for each spatial axis, or one number for all");
  expect_refused(forward(), [](auto& r) { r.padding_after = -1; }, "padding_after is -1; expected at least 0");
  expect_refused(forward(), [](auto& r) { r.stride = {1, 0}; }, "stride is 0; expected at least 1");
  expect_refused(
      forward(), [](auto& r) { r.dilation = std::int64_t{1} << 31; },
      "dilation is 2147483648; expected less than 2147483648");
}

TEST_F(cutlass_convolution_checks, types_without_a_product_are_refused) {
  expect_refused(
      forward(), [&](auto& r) { r.filters = at<double>(300, {6, 4, 3, 3}); },
      "filters holds f64, and x holds f32; expected one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or f8e5m2 "
      "for each; or f16 or bf16 with i8 or an 8-bit float");
  expect_refused(
      weights(), [&](auto& r) { r.x = at<complex64>(0, {2, 4, 5, 6}); },
      "x holds c64, and dy holds f32; expected one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or f8e5m2 for "
      "each; or f16 or bf16 with i8 or an 8-bit float");
  expect_refused(
      conv_forward{
          .x = at<half>(0, {1, 4, 9}), .filters = at<float4_e2m1x2>(300, {2, 4, 1}), .y = at<half>(600, {1, 2, 9})},
      "filters holds f4e2m1x2, and x holds f16; expected one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or "
      "f8e5m2 for each; or f16 or bf16 with i8 or an 8-bit float");
  expect_refused(
      forward(), [&](auto& r) { r.y = at<complex64>(600, {2, 6, 5, 6}); },
      "y holds c64; expected one real number in each element");
}

TEST_F(cutlass_convolution_checks, sums_of_i8_that_could_overflow_are_refused) {
  expect_refused(
      conv_forward{.x = at<std::int8_t>(0, {1, 131072, 1}),
                   .filters = at<std::int8_t>(200000, {1, 131072, 1}),
                   .y = at<std::int32_t>(100000, {1, 1, 1})},
      "filters is 1 x 131072 x 1; expected at most 131071 products of i8 in a sum, so that no sum overflows");
  expect_refused(conv_weight_gradient{.dy = at<std::int8_t>(0, {2, 1, 65536}),
                                      .x = at<std::int8_t>(200000, {2, 1, 65536}),
                                      .dfilters = at<std::int32_t>(100000, {1, 1, 1})},
                 "dy is 2 x 1 x 65536; expected at most 131071 products of i8 in a sum, so that no sum overflows");
}

TEST_F(cutlass_convolution_checks, epilogue_operands_must_fit_the_matrices_of_the_result) {
  expect_refused(forward(acc + epilogue::row(vector_at<float>(2000, 5))),
                 "epilogue.row[0] has 5 elements; expected 6, one for each column of the result");
  expect_fine(forward(acc + load(image_matrices(at<float>(2000, {2, 6, 5, 6})))));
  expect_refused(forward(acc + load(image_matrices(at<float>(2000, {2, 6, 6, 5})).permuted({0, 2, 1}))),
                 "epilogue.load[0] is 6 x 30; expected 30 x 6, the extents of the result");
  conv_forward paired = forward(left * right);
  expect_refused(paired,
                 "y is 2 x 6 x 5 x 6; expected 2 x 3 x 5 x 6, as the convolution's result has: the epilogue pairs its "
                 "channels");
  paired.y = at<float>(600, {2, 3, 5, 6});
  expect_fine(paired);
  expect_refused(
      paired, [&](auto& r) { r.filters = at<float>(300, {7, 4, 3, 3}); },
      "filters is 7 x 4 x 3 x 3; expected an even number of filters: the epilogue pairs them");
  conv_data_gradient paired_images = data();
  paired_images.epilogue = left * right;
  expect_refused(paired_images,
                 "filters is 6 x 4 x 3 x 3, with 4 input channels; expected 8, twice as many as the image has: the "
                 "epilogue pairs them");
  paired_images.dx = at<float>(0, {2, 2, 5, 6});
  expect_fine(paired_images);
  conv_weight_gradient r = weights();
  r.epilogue = left * right;
  expect_refused(r, "epilogue has left or right; expected acc: the elements of a filter have no pairs");
  // The epilogue may load the result itself.
  conv_weight_gradient update = weights();
  update.epilogue = load(filter_matrix(at<float>(300, {6, 4, 3, 3}))) - 0.1 * acc;
  expect_fine(update);
  update.epilogue = load(filter_matrix(at<float>(301, {6, 4, 3, 3}))) - 0.1 * acc;
  EXPECT_NE(memory.refusal(update), "") << "the loaded matrix begins one element after dfilters";
}

TEST_F(cutlass_convolution_checks, a_refusal_of_options_names_the_field) {
  expect_refused(
      forward(), [](auto& r) { r.options.precision = static_cast<precision>(2); },
      "options.precision is 2; expected exact or tf32");
  expect_refused(
      data(), [](auto& r) { r.options.compiling = static_cast<compiling>(3); },
      "options.compiling is 3; expected allowed, forbidden or awaited");
  expect_refused(
      weights(), [](auto& r) { r.options.plan.tile_m = 17; },
      "options.plan has a tile of 17 x 0 x 0; expected multiples of 16, 8 and 8, or 0");
  auto p = prepare{forward(), 65};
  expect_refused(p, "measure is 65; expected 0 to 64, the number of plans to measure");
  p.measure = 0, p.request.options.plan.tile_m = 17;
  expect_refused(p, "request.options.plan has a tile of 17 x 0 x 0; expected multiples of 16, 8 and 8, or 0");
}

TEST(cutlass_image_views, images_and_filters_are_viewed_as_matrices) {
  tensor_shape s{.rank = 4, .extents = {2, 3, 4, 5}, .strides = {60, 1, 15, 3}};
  matrices_of_result m = matrices_of_images(s);
  EXPECT_TRUE(m.is_mergeable());
  EXPECT_EQ(m.one, (matrix_shape{20, 3, 3, 1}));
  EXPECT_EQ(m.count, 2);
  EXPECT_EQ(m.stride, 60);
  EXPECT_EQ(matrix_of_filters(s).one, (matrix_shape{2, 60, 60, 1})) << "channels last, as in memory";
  s.strides[2] = 16;  // a gap after each row of positions
  EXPECT_FALSE(matrices_of_images(s).is_mergeable());
  EXPECT_FALSE(matrix_of_filters(s).is_mergeable());
  s = {.rank = 5, .extents = {7, 2, 1, 6, 1}, .strides = {12, 6, 99, 1, 98}};
  EXPECT_EQ(matrices_of_images(s).one, (matrix_shape{6, 2, 1, 6})) << "strides of extents of 1 have no effect";
  EXPECT_EQ(matrix_of_filters(s).one, (matrix_shape{7, 12, 12, 1}));
}

}  // namespace
}  // namespace troupe::cutlass
