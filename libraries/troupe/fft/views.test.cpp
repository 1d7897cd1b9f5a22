// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/fft/internal/views.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::fft {
namespace {

using C = complex64;

tensor_shape shaped(std::initializer_list<std::int64_t> extents, std::initializer_list<std::int64_t> strides) {
  tensor_shape s{.rank = extents.size()};
  std::copy(extents.begin(), extents.end(), s.extents.begin());
  std::copy(strides.begin(), strides.end(), s.strides.begin());
  return s;
}

void expect_laid_out(const tensor_shape& s, std::size_t dimensions, const shape& n, std::int64_t batch,
                     const layout& where) {
  const auto got = lay_out(s, index_order(s, dimensions, false));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->n, n) << to_string(got->n);
  EXPECT_EQ(got->batch, extent(batch));
  EXPECT_EQ(got->where, where) << to_string(got->where);
}

TEST(fft_tensor_layouts, without_gaps_have_the_default_layout) {
  expect_laid_out(shaped({8}, {1}), 1, 8, 1, {});
  expect_laid_out(shaped({4, 8}, {8, 1}), 2, {4, 8}, 1, {});
  expect_laid_out(shaped({4, 8}, {8, 1}), 1, 8, 4, {});
  expect_laid_out(shaped({3, 2, 4, 8}, {64, 32, 8, 1}), 2, {4, 8}, 6, {});
  expect_laid_out(shaped({3, 1, 1, 8}, {8, 77, 99, 1}), 3, {1, 1, 8}, 3, {});
}

TEST(fft_tensor_layouts, strides_with_gaps_become_embed_stride_or_distance) {
  expect_laid_out(shaped({4, 5}, {8, 1}), 2, {4, 5}, 1, {.embed = {4, 8}});
  expect_laid_out(shaped({4, 5}, {16, 2}), 2, {4, 5}, 1, {.embed = {4, 8}, .stride = 2});
  expect_laid_out(shaped({3, 4, 5}, {100, 8, 1}), 2, {4, 5}, 3, {.embed = {4, 8}, .distance = 100});
  expect_laid_out(shaped({3, 8}, {1, 3}), 1, 8, 3, {.stride = 3, .distance = 1});
  expect_laid_out(shaped({5, 1, 4}, {6, 5, 1}), 3, {5, 1, 4}, 1, {.embed = {5, 1, 6}});
  expect_laid_out(shaped({5, 1}, {6, 1}), 2, {5, 1}, 1, {.embed = {5, 6}});
  expect_laid_out(shaped({5, 1}, {6, 9}), 2, {1, 5}, 1, {.stride = 6});
}

TEST(fft_tensor_layouts, may_have_their_axes_in_any_order) {
  expect_laid_out(shaped({8, 4}, {1, 8}), 2, {4, 8}, 1, {});
  expect_laid_out(shaped({2, 3, 5}, {5, 10, 1}), 1, 5, 6, {});
}

TEST(fft_tensor_layouts, do_not_exist_for_some_strides) {
  const auto taken = [](const tensor_shape& s, std::size_t dimensions) {
    return lay_out(s, index_order(s, dimensions, false)).has_value();
  };
  EXPECT_FALSE(taken(shaped({4, 3}, {7, 2}), 2));          // 7 is not a multiple of 2
  EXPECT_FALSE(taken(shaped({3, 2, 8}, {100, 8, 1}), 1));  // a batch of two axes with unrelated strides
  EXPECT_TRUE(taken(shaped({3, 2, 8}, {16, 8, 1}), 1));
  EXPECT_FALSE(taken(shaped({4, 3}, {0, 0}), 2));
}

class fft_tensor_refusals : public ::testing::Test {
 protected:
  template <class R>
  void expect_refused(const R& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), text.empty() ? text : std::string(name_of<R>()) + ": " + text) << describe(r);
  }
  template <class Operand>
  Operand at(std::uint64_t first, const tensor_shape& s) {
    extent span = 1;
    for (std::size_t i = 0; i < s.rank; ++i) span = span + (extent(s.extents[i]) - 1) * s.strides[i];
    return {memory.at<typename Operand::element_type>(first, static_cast<std::uint64_t>(span.value())), s};
  }
  troupe::testing::fake_memory memory{0x10000};
};

TEST_F(fft_tensor_refusals, name_sizes_dimensions_and_strides) {
  const tensor_shape square = shaped({4, 8}, {8, 1}), half = shaped({4, 5}, {5, 1});
  const complex_transform<C> good{.input = at<in_tensor<C>>(0, square), .output = at<out_tensor<C>>(100, square)};
  expect_refused(good, "");
  auto bad = good;
  bad.dimensions = 3;
  expect_refused(bad, "dimensions is 3; expected 1 to 3, and at most the 2 axes of input");
  bad.dimensions = -1;
  expect_refused(bad, "dimensions is -1; expected 1 to 3, and at most the 2 axes of input");
  bad = good;
  bad.input = at<in_tensor<C>>(0, tensor_shape{.rank = 2, .extents = {0, 8}, .strides = {8, 1}});
  expect_refused(bad, "input is 0 x 8; expected at least 1 along each axis");
  bad = good;
  bad.output = at<out_tensor<C>>(100, half);
  expect_refused(bad, "output is 4 x 5; expected 4 x 8 (as input)");
  bad.output = at<out_tensor<C>>(100, shaped({4, 8}, {17, 2}));
  expect_refused(
      bad,
      "output is 4 x 8 with strides 17, 2; expected strides that are multiples of each other, in the same order in "
      "both tensors, as slices and permutations of a tensor without gaps have them, and one distance for "
      "the whole batch");
  const tensor_shape four = shaped({2, 2, 2, 2}, {8, 4, 2, 1});
  expect_refused(complex_transform<C>{.input = at<in_tensor<C>>(0, four), .output = at<out_tensor<C>>(100, four)},
                 "dimensions is 0, all 4 axes of input; expected 1 to 3, and at most the 4 axes of input");

  const real_transform<float> forward{.input = at<in_tensor<float>>(0, square), .output = at<out_tensor<C>>(100, half)};
  expect_refused(forward, "");
  auto wrong = forward;
  wrong.output = at<out_tensor<C>>(100, square);
  expect_refused(wrong, "output is 4 x 8; expected 4 x 5 (as input, with n / 2 + 1 elements along the last axis)");
  const real_inverse<float> inverse{.input = at<in_tensor<C>>(0, half), .output = at<out_tensor<float>>(100, square)};
  expect_refused(inverse, "");
  auto also_wrong = inverse;
  also_wrong.input = at<in_tensor<C>>(0, square);
  expect_refused(also_wrong, "input is 4 x 8; expected 4 x 5 (as output, with n / 2 + 1 elements along the last axis)");
}

TEST_F(fft_tensor_refusals, allow_transforms_in_place_only_if_the_strides_agree) {
  const tensor_shape square = shaped({4, 8}, {8, 1}), wider = shaped({4, 8}, {9, 1});
  expect_refused(complex_transform<C>{.input = at<in_tensor<C>>(0, square), .output = at<out_tensor<C>>(0, square)},
                 "");
  expect_refused(
      complex_transform<C>{.input = at<in_tensor<C>>(0, square), .output = at<out_tensor<C>>(0, wider)},
      "output overlaps input; expected separate memory, because one of them is written while the other is in use");
  const tensor_shape half = shaped({4, 5}, {5, 1}), padded = shaped({4, 8}, {10, 1});
  expect_refused(real_transform<float>{.input = at<in_tensor<float>>(0, padded), .output = at<out_tensor<C>>(0, half)},
                 "");
  expect_refused(
      real_transform<float>{.input = at<in_tensor<float>>(0, square), .output = at<out_tensor<C>>(0, half)},
      "input is 4 x 8 with strides 8, 1, too small for the transform in place; expected the last stride 1 and the "
      "others twice those of the complex side, or another output");
  expect_refused(real_inverse<float>{.input = at<in_tensor<C>>(0, half), .output = at<out_tensor<float>>(0, padded)},
                 "");
}

}  // namespace
}  // namespace troupe::fft
