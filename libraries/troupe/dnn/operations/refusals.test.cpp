// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong graphs are refused before they are sent, and the exact text for each kind of mistake.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <troupe/base/half.hpp>
#include <troupe/dnn/dnn.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::dnn {
namespace {

class dnn_refusals : public ::testing::Test {
 protected:
  template <class T = float>
  tensor<T> at(std::uint64_t first, std::initializer_list<extent> extents) {
    std::uint64_t n = 1;
    for (const extent e : extents) n *= static_cast<std::uint64_t>(e.value());
    return tensor<T>(buffer<T>(memory.at<T>(first, n).range), extents);
  }
  template <class T = float>
  value given(std::initializer_list<extent> extents) {
    return read(at<T>(0, extents));
  }
  void expect_value(const value& v, const std::string& text) { EXPECT_EQ(v.why_refused(), text); }
  troupe::testing::fake_memory memory{1 << 18};
};

TEST_F(dnn_refusals, an_extent_of_0_is_refused_where_elements_are_required) {
  const value image = given({2, 0, 8, 8}), f = given({4, 6, 3, 3});
  expect_value(
      convolution(image, f),
      "has a convolution whose x is 2 x 0 x 8 x 8; expected extents of at least 1, except the number of images");
  expect_value(convolution(given({0, 6, 8, 8}), given({0, 6, 3, 3})),
               "has a convolution whose filters is 0 x 6 x 3 x 3; expected extents of at least 1");
  expect_value(
      max_pool(given({2, 3, 0, 4}), 2),
      "has a max_pool whose window is 2; expected a window that fits into the padded image; x is 2 x 3 x 0 x 4");
  expect_value(resample(given({2, 3, 0, 4}), {2, 2}),
               "has a resampling whose x is 2 x 3 x 0 x 4; expected spatial extents of at least 1");
  expect_value(reduce(given({2, 0}), reduction_kind::maximum, {1}),
               "has a reduction whose x is 2 x 0; expected elements to find the maximum or minimum of");
  expect_value(attention(given({1, 2, 3, 0}), given({1, 2, 3, 0}), given({1, 2, 3, 4})).y,
               "has an attention whose q is 1 x 2 x 3 x 0; expected a width of at least 1");
  expect_value(recurrence(given({2, 3, 0}), {.input = given({16, 0}), .recurrent = given({16, 4})}, {}).y,
               "has a recurrence whose x is 2 x 3 x 0; expected at least 1 along axis 2, the inputs; only axes 0 and "
               "1, the steps and the sequences, may be 0");
  expect_value(value(in_any(tensor<float>())), "reads a tensor that was never made; expected a tensor with extents");
}

TEST_F(dnn_refusals, a_tensor_without_elements_is_accepted_unless_its_memory_is_invalid) {
  const value none = given({0, 4});
  computation r{.graph = {write(relu(none), at<float>(0, {0, 4}))}};
  EXPECT_EQ(memory.refusal(r), "");
  r.graph = {write(relu(read(tensor<float>(buffer<float>(), {0, 4}))), at<float>(0, {0, 4}))};
  EXPECT_EQ(
      memory.refusal(r),
      "dnn.computation: graph.read[0] is an empty buffer (never allocated, or moved from); expected a buffer from "
      "this device's alloc()");
}

TEST_F(dnn_refusals, a_convolution_names_the_wrong_input_and_the_expected_extents) {
  const value x = given({2, 6, 8, 8}), f = given({4, 6, 3, 3});
  expect_value(convolution(x, f), "");
  expect_value(convolution(x, given({4, 5, 3, 3})),
               "has a convolution whose filters is 4 x 5 x 3 x 3, with 5 input channels; expected 6, as the image has");
  expect_value(convolution(x, given({4, 6, 3})), "has a convolution whose filters has 3 axes; expected 4, as x has");
  expect_value(convolution(given({6, 8}), f), "has a convolution whose x has 2 axes; expected 3 to 5");
  expect_value(convolution(x, given({4, 6, 9, 3})),
               "has a convolution whose filters is 4 x 6 x 9 x 3; expected a window that fits into the padded image; "
               "x is 2 x 6 x 8 x 8");
  expect_value(convolution(x, f, {.groups = 4}),
               "has a convolution whose groups is 4; expected a divisor of the 6 channels and of the 4 filters");
  expect_value(convolution(x, f, {.groups = 0}), "has a convolution whose groups is 0; expected at least 1");
  expect_value(convolution(x, f, {.stride = 0}), "has a convolution whose stride is 0; expected at least 1");
  expect_value(convolution(x, f, {.padding = {1, -1}}), "has a convolution whose padding is -1; expected at least 0");
  expect_value(convolution(x, f, {.padding = {1, std::int64_t{1} << 62}}),
               "has a convolution whose padding is 4611686018427387904; expected less than 2147483648");
  expect_value(
      convolution(x, f, {.dilation = {1, 1, 1}}),
      "has a convolution whose dilation has 3 numbers; expected 2, one for each spatial axis, or one number for all");
  expect_value(
      convolution(x, given<half>({4, 6, 3, 3})),
      "has a convolution whose filters holds f16; expected f32, as the other factor does; convert one of them");
  expect_value(convolution_data_gradient(given({2, 4, 6, 5}), f, {2, 6, 8, 8}),
               "has a convolution_data_gradient whose dy is 2 x 4 x 6 x 5; expected 2 x 4 x 6 x 6, as the "
               "convolution's result has");
  expect_value(convolution_weight_gradient(given({2, 4, 6, 6}), x, {4, 6, 3}),
               "has a convolution_weight_gradient whose result has 3 axes; expected 4, as dy has");
  expect_value(transposed_convolution(given({2, 4, 6, 6}), f, {.stride = 2}, 2),
               "has a transposed_convolution whose more is 2; expected less than stride, 2");
}

TEST_F(dnn_refusals, sums_of_i8_that_could_overflow_are_refused) {
  const auto bytes = [&](std::initializer_list<extent> e) { return given<std::int8_t>(e); };
  expect_value(product(bytes({1, 131071}), bytes({131071, 1})), "");
  const std::string expected = "; expected at most 131071, so that no sum overflows";
  expect_value(product(bytes({1, 131072}), bytes({131072, 1})),
               "has a product whose sums have 131072 summands of i8" + expected);
  expect_value(convolution(bytes({1, 20000, 7}), bytes({1, 20000, 7})),
               "has a convolution whose sums have 140000 summands of i8" + expected);
  expect_value(convolution_weight_gradient(bytes({1, 1, 131072}), bytes({1, 1, 131072}), {1, 1, 1}),
               "has a convolution_weight_gradient whose sums have 131072 summands of i8" + expected);
}

TEST_F(dnn_refusals, a_pooling_names_the_window_that_does_not_fit) {
  const value x = given({2, 3, 8, 8});
  expect_value(max_pool(x, 2), "");
  expect_value(
      max_pool(x, {2, 9}),
      "has a max_pool whose window is 9; expected a window that fits into the padded image; x is 2 x 3 x 8 x 8");
  expect_value(mean_pool(x, 0), "has a mean_pool whose window is 0; expected at least 1");
  expect_value(
      mean_pool(x, 2, {.padding = 2}),
      "has a mean_pool whose padding leaves a window without an element of the image; expected less than the window");
  expect_value(
      max_pool_gradient(given({2, 3, 4, 5}), x, 2),
      "has a max_pool_gradient whose dy is 2 x 3 x 4 x 5; expected 2 x 3 x 4 x 4, as the pooling's result has");
}

TEST_F(dnn_refusals, a_pooling_is_refused_exactly_if_a_window_misses_the_image) {
  int refused = 0, all = 0;
  for (std::int64_t length = 1; length <= 4; ++length)
    for (std::int64_t width = 1; width <= 4; ++width)
      for (std::int64_t dilation = 1; dilation <= 7; ++dilation)
        for (std::int64_t before = 0; before <= 9; ++before)
          for (const std::int64_t after : {0, 3, 8})
            for (std::int64_t step = 1; step <= 5; ++step) {
              const std::int64_t last = length + before + after - (width - 1) * dilation -
                                        1;  // the last position of a window's first element
              if (last < 0) continue;
              bool all_reach_image = true;
              for (std::int64_t first = 0; first <= last; first += step) {
                bool reaches_image = false;
                for (std::int64_t w = 0; w < width; ++w)
                  reaches_image =
                      reaches_image || (first + w * dilation >= before && first + w * dilation < before + length);
                all_reach_image = all_reach_image && reaches_image;
              }
              const pooling_options o{.padding = before, .padding_after = after, .stride = step, .dilation = dilation};
              const bool is_accepted =
                  max_pool(given({1, 1, static_cast<extent>(length)}), width, o).why_refused().empty();
              ASSERT_EQ(is_accepted, all_reach_image)
                  << length << ' ' << width << ' ' << dilation << ' ' << before << ' ' << after << ' ' << step;
              ++all, refused += is_accepted ? 0 : 1;
            }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(all - refused, 1000);
}

// Requests are checked in the caller's thread, so the check must be fast.
TEST_F(dnn_refusals, a_pooling_with_long_windows_is_checked_fast) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const auto begin = std::chrono::steady_clock::now();
  const value x = given({1, 1, 3});
  EXPECT_EQ(max_pool(x, most, {.padding = most, .stride = 1, .dilation = 2}).why_refused(), "");
  EXPECT_NE(max_pool(x, most, {.padding = most, .stride = 1, .dilation = 4}).why_refused(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST_F(dnn_refusals, an_elementwise_operation_names_the_wrong_argument) {
  const value x = given({2, 3, 4});
  expect_value(x + given({2, 1, 4}), "");
  expect_value(x + given({2, 2, 4}),
               "has a sum whose argument 1 is 2 x 2 x 4; expected 2 x 3 x 4, where each extent may be 1");
  expect_value(x + given({3, 4}), "has a sum whose argument 1 has 2 axes; expected 3, as another argument has");
  expect_value(convert(x, dtype::u64),
               "has a conversion whose type is u64; expected f32, f64, f16, bf16, an 8-bit float, i64, or "
               "an integer of at most 32 bits");
  expect_value(reduce(x, reduction_kind::sum, {1, 1}),
               "has a reduction whose axes have one that x does not have, or one twice; expected axes of x, each once");
  expect_value(softmax(x, 3), "has a softmax whose axis is 3; expected less than 3");
  expect_value(softmax(2.0, 0), "has a softmax whose x is a number; expected 1 to 8 axes");
  expect_value(product(x, given({2, 3, 4})),
               "has a product whose b is 2 x 3 x 4; expected 4 rows, as many as a has columns");
  expect_value(product(x, given({3, 4, 2})),
               "has a product whose b is 3 x 4 x 2; expected as many matrices as a has, or 1");
}

TEST_F(dnn_refusals, a_normalization_names_the_argument_that_is_wrong) {
  const value x = given({2, 6, 8, 8}), of_channels = given({1, 6, 1, 1});
  expect_value(batch_norm(x, 1e-5, affine{of_channels, of_channels}).y, "");
  expect_value(batch_norm(x, -1).y, "has a batch_norm whose epsilon is -1.000000; expected 0 or more");
  expect_value(group_norm(x, 4, 1e-5).y, "has a group_norm whose groups is 4; expected a divisor of the channels");
  expect_value(batch_norm(x, 1e-5, affine{given({1, 5, 1, 1}), of_channels}).y,
               "has a batch_norm whose scale is 1 x 5 x 1 x 1; expected 2 x 6 x 8 x 8, where each extent may be 1");
  expect_value(batch_norm(x, 1e-5, {}, running_averages{of_channels, of_channels, 2}).y,
               "has a batch_norm whose momentum is 2.000000; expected 0 to 1");
  expect_value(batch_norm(x, 1e-5, {}, running_averages{of_channels, given({1, 6, 1, 8})}).y,
               "has a batch_norm whose running average is 1 x 6 x 1 x 8; expected 1 x 6 x 1 x 1");
  expect_value(batch_norm(x, 1e-5).next_mean,
               "has a batch_norm whose next running average is not computed; expected running averages to be given");
  const normalized n = layer_norm(x, 2, 1e-5);
  expect_value(normalization_gradient(given({2, 6, 8, 7}), x, n).dx,
               "has a normalization_gradient whose dy is 2 x 6 x 8 x 7; expected 2 x 6 x 8 x 8, as x has");
  expect_value(normalization_gradient(x, x, {n.y, n.mean, given({2, 6, 8, 3})}).dx,
               "has a normalization_gradient whose inverse_deviation is 2 x 6 x 8 x 3; expected the extents of x, 2 x "
               "6 x 8 x 8, "
               "but 1 along each normalized axis, or the number of groups along axis 1");
  expect_value(normalization_gradient(x, x, n).dscale,
               "has a normalization_gradient whose dscale is not computed; expected a scale to be given");
}

TEST_F(dnn_refusals, an_attention_names_the_wrong_input_and_the_expected_extents) {
  const value q = given({2, 4, 6, 8}), k = given({2, 2, 5, 8}), v = given({2, 2, 5, 3});
  const auto expect = [&](const value& x, const std::string& text) {
    expect_value(x, "has an attention whose " + text);
  };
  expect_value(attention(q, k, v).y, "");
  expect(attention(given({4, 6, 8}), k, v).y, "q has 3 axes; expected 4");
  expect(attention(q, 1.0, v).y, "k is a number; expected 4 axes");
  expect(attention(q, given({2, 2, 5, 7}), v).y, "k is 2 x 2 x 5 x 7; expected width 8, as q has");
  expect(attention(q, given({2, 3, 5, 8}), given({2, 3, 5, 8})).y,
         "k is 2 x 3 x 5 x 8; expected heads that divide those of q, 4");
  expect(attention(q, given({1, 2, 5, 8}), given({1, 2, 5, 8})).statistics,
         "k is 1 x 2 x 5 x 8; expected a batch of 2, as q has");
  expect(attention(q, k, given({2, 2, 4, 8})).y, "v is 2 x 2 x 4 x 8; expected 2 x 2 x 5 x any width, as k has");
  expect(attention(q, given<half>({2, 2, 5, 8}), v).y, "k holds f16; expected f32, as q does; convert one of them");
  expect(attention(q, k, given<half>({2, 2, 5, 8})).y, "v holds f16; expected f32, as k does; convert one of them");
  expect(attention(q, k, v, {.scale = std::numeric_limits<double>::infinity()}).y,
         "scale is inf; expected a finite number");
  expect(attention(q, k, v, {.soft_cap = 0}).y, "soft_cap is 0.000000; expected a finite number above 0");
  expect(attention(q, k, v, {.window = {.left = -1}}).y,
         "window has left = -1; expected at least 0, or no value for no limit");
  expect(attention(q, k, v, {.bias = given({2, 4, 6, 4})}).y,
         "bias is 2 x 4 x 6 x 4; expected 2 x 4 x 6 x 5, where each extent may be 1");
  expect(attention(q, k, v, {.dropout = attention_dropout{.probability = 1}}).y,
         "dropout has the probability 1.000000; expected at least 0 and less than 1");
  expect(attention(q, k, v, {.dropout = attention_dropout{.step = given<std::int32_t>({2})}}).y,
         "dropout.step is 2; expected 1");
}

TEST_F(dnn_refusals, an_attention_names_sequences_that_do_not_fit) {
  const value q = given({2, 4, 6, 8}), k = given({2, 2, 5, 8}), one = given({1, 4, 6, 8});
  const auto whole = [&](std::initializer_list<extent> e) { return given<std::int32_t>(e); };
  const auto expect = [&](const value& q, const value& k, const attention_options& o, const std::string& text) {
    expect_value(attention(q, k, k, o).y, text.empty() ? "" : "has an attention whose " + text);
  };
  expect(q, k, {.queries = {.lengths = whole({2})}}, "");
  expect(q, k, {.queries = {.lengths = whole({3})}}, "queries.lengths is 3; expected 2");
  expect(q, k, {.keys = {.lengths = given({2})}}, "keys.lengths holds f32; expected i32");
  expect(q, k, {.keys = {.lengths = convert(given({2}), dtype::i32)}},
         "keys.lengths is computed; expected i32 that are read from memory");
  expect(q, k, {.keys = {.lengths = whole({2, 1})}}, "keys.lengths has 2 axes; expected 1");
  expect(q, k, {.keys = {.offsets = whole({3})}}, "keys.offsets is given for a batch of 2; expected a batch of 1");
  expect(one, given({1, 2, 5, 8}), {.queries = {.offsets = whole({4})}, .keys = {.offsets = whole({4})}}, "");
  expect(one, given({1, 2, 5, 8}), {.queries = {.offsets = whole({4})}, .keys = {.offsets = whole({3})}},
         "keys.offsets is 3; expected 4");
  expect(one, k, {.queries = {.offsets = whole({4})}}, "k is 2 x 2 x 5 x 8; expected a batch of 3, as q has");
  expect(one, k, {.queries = {.offsets = whole({1})}},
         "queries.offsets has no sequence; expected at least 2 offsets: one more than sequences");
  expect(one, k, {.queries = {.lengths = whole({2}), .offsets = whole({3})}},
         "queries.lengths is given as well as offsets; expected at most one of the two");
  expect(one, k, {.bias = given({1, 1, 1, 1}), .queries = {.offsets = whole({3})}},
         "bias is given as well as offsets; expected lengths instead of offsets, with each sequence in a row of the "
         "batch");
  expect(q, k, {.keys = {.lengths = whole({2})}, .pages = whole({2, 7})}, "");
  expect(q, k, {.pages = whole({3, 7})}, "pages is 3 x 7; expected 2 x the pages of a sequence");
  expect(q, k, {.keys = {.offsets = whole({3})}, .pages = whole({2, 7})},
         "keys.offsets is given as well as pages; expected lengths instead of offsets");
}

TEST_F(dnn_refusals, an_attention_gradient_names_what_is_missing) {
  const value q = given({2, 4, 6, 8}), k = given({2, 2, 5, 8}), v = given({2, 2, 5, 3}), dy = given({2, 4, 6, 3});
  const attended a = attention(q, k, v);
  const auto expect = [&](const value& x, const std::string& text) {
    expect_value(x, "has an attention_gradient whose " + text);
  };
  expect_value(attention_gradient(dy, a, q, k, v).dv, "");
  expect(attention_gradient(dy, a, q, k, v).dbias, "dbias is not computed; expected a bias to be given");
  expect(attention_gradient(q, a, q, k, v).dq,
         "dy is 2 x 4 x 6 x 8; expected 2 x 4 x 6 x 3, as the attention's result has");
  expect(attention_gradient(dy, {q, a.statistics}, q, k, v).dq,
         "y is 2 x 4 x 6 x 8; expected 2 x 4 x 6 x 3, as the attention's result has");
  expect(attention_gradient(dy, {a.y, dy}, q, k, v).dq,
         "statistics is 2 x 4 x 6 x 3; expected 2 x 4 x 6 x 1, as the attention's result has");
  expect(attention_gradient(dy, a, q, k, v, {.pages = given<std::int32_t>({2, 1})}).dq,
         "pages is given; expected none: an attention with pages has no gradient");
}

TEST_F(dnn_refusals, shape_operations_name_wrong_extents_and_axes) {
  const value x = given({2, 3, 4});
  expect_value(reshape(x, {5, 5}),
               "has a reshape whose result is 5 x 5; expected as many elements as x has, which is 2 x 3 x 4");
  expect_value(transpose(x, {0, 0, 1}),
               "has a transposition whose order is not an order of the axes of x; expected each axis once");
  expect_value(
      slice(x, 2, 3, 2),
      "has a slice whose range begins at 3 and has 2 elements; expected a range within the 4 elements along axis 2");
  expect_value(concatenate({x, given({2, 3, 5})}, 1),
               "has a concatenation whose part 1 is 2 x 3 x 5; expected 2 x 3 x 4, as part 0 has; the extent along "
               "axis 1 may differ");
  expect_value(channels(x),
               "has a reshape whose channels has 3 axes, for a result of 4; expected 1, for a result of 2 to 8");
}

TEST_F(dnn_refusals, random_numbers_name_a_wrong_seed_or_probability) {
  const auto words = [&](extent n) { return read(at<std::uint32_t>(0, {n})); };
  expect_value(random_uniform({2, 3}, random_seed(words(4))), "");
  expect_value(random_uniform({2, 3}, random_seed(words(3))),
               "has a random_uniform whose seed is 3; expected a vector of 2 words, or of 4 with an offset");
  expect_value(random_normal({2, 3}, random_seed(given({2}))),
               "has a random_normal whose seed holds f32; expected u32 or i32");
  expect_value(random_normal({2, 3}, random_seed(convert(given({2}), dtype::u32))),
               "has a random_normal whose seed is computed; expected words in memory, or a seed by value");
  expect_value(random_bernoulli({2}, 1.5, 1), "has a random_bernoulli whose probability is 1.500000; expected 0 to 1");
  expect_value(random_uniform({2, -1}, 1),
               "has a random_uniform whose result is 2 x -1; expected extents of at least 0");
  expect_value(random_uniform({}, 1), "has a random_uniform whose result has 0 axes; expected 1 to 8");
  expect_value(dropout(given({2}), -0.5, 1), "has a dropout whose probability is -0.500000; expected 0 to 1");
  expect_value(dropout_gradient(2, 0.5, 1), "has a dropout_gradient whose dy is a number; expected 1 to 8 axes");
}

TEST_F(dnn_refusals, image_operations_and_block_scaling_name_the_wrong_option) {
  const value x = given({2, 6, 8, 8});
  expect_value(local_response_norm(x), "");
  expect_value(local_response_norm(x, {.size = 0}), "has a local_response_norm whose size is 0; expected 1 to 1048576");
  expect_value(local_response_norm(x, {.k = 0}), "has a local_response_norm whose k is 0.000000; expected more than 0");
  expect_value(local_response_norm(given({2})), "has a local_response_norm whose x has 1 axis; expected 2 to 8");
  expect_value(local_response_norm_gradient(given({2, 6, 8, 7}), x),
               "has a local_response_norm_gradient whose dy is 2 x 6 x 8 x 7; expected 2 x 6 x 8 x 8, as x has");
  expect_value(resample(x, {4}), "has a resampling whose result has 1 axis; expected 2 spatial axes");
  expect_value(resample(x, {4, 0}), "has a resampling whose result is 0; expected 1 to 268435456");
  expect_value(resample_by(x, {2, -1.0}),
               "has a resampling whose factor is -1.000000; expected more than 0, for extents up to 268435456");
  expect_value(resample_by(x, {2, 0.1}), "has a resampling whose result is 0; expected 1 to 268435456");
  expect_value(resample(given({2, 6}), {4}), "has a resampling whose x has 2 axes; expected 3 to 5");
  expect_value(resample_gradient(x, {4, 4, 4}),
               "has a resampling_gradient whose extents of x has 3 axes; expected 2 spatial axes");
  expect_value(max_pool_index_gradient(given({2, 6, 4, 4}), given({2, 6, 4, 4}), x.extents(), 2),
               "has a max_pool_index_gradient whose indexes holds f32; expected i32, as max_pool_with_indexes returns");
  expect_value(max_pool_index_gradient(given({2, 6, 4, 4}), read(at<std::int32_t>(0, {2, 6, 4, 3})), x.extents(), 2),
               "has a max_pool_index_gradient whose indexes is 2 x 6 x 4 x 3; expected 2 x 6 x 4 x 4, as dy has");
  expect_value(quantize_blocks(x, {.along = 4}).elements,
               "has a block_quantization whose axis is 4; expected less than 4");
  expect_value(quantize_blocks(x, {.along = 1, .block = 0}).scales,
               "has a block_quantization whose block is 0; expected at least 1");
  expect_value(
      quantize_blocks(x, {.along = 1, .elements = dtype::f4e2m1x2}).elements,
      "has a block_quantization whose type of elements is f4e2m1x2; expected one number in each element: f8e4m3, "
      "f8e5m2 or f4e2m1");
  expect_value(quantize_blocks(x, {.along = 1, .scales = dtype::f16}).elements,
               "has a block_quantization whose type of scales is f16; expected f8e8m0, f8e4m3 or f32");
  expect_value(dequantize_blocks(x, given({2, 2, 8, 8}), 1, 4), "");
  expect_value(dequantize_blocks(x, given({2, 6, 8, 8}), 1, 4),
               "has a block_dequantization whose scales is 2 x 6 x 8 x 8; expected 2 x 2 x 8 x 8, one for each block");
}

TEST_F(dnn_refusals, a_refused_value_anywhere_in_a_graph_refuses_the_request) {
  const auto refusal = [&](const graph& g) { return memory.refusal(computation{.graph = g}); };
  const tensor<float> y = at(1000, {2, 3, 4});
  const value x = given({2, 3, 4}), wrong = relu(x + given({2, 2, 4})) * 2;
  EXPECT_EQ(refusal({write(x, y)}), "");
  EXPECT_EQ(refusal({write(wrong, y)}),
            "dnn.computation: graph has a sum whose argument 1 is 2 x 2 x 4; expected 2 x 3 x 4, where each "
            "extent may be 1");
  EXPECT_EQ(
      refusal({write(x, at(1000, {2, 3, 5}))}),
      "dnn.computation: graph writes a value that is 2 x 3 x 4 to memory that is 2 x 3 x 5; expected equal extents");
  EXPECT_EQ(refusal(graph(std::span<const written>())),
            "dnn.computation: graph is empty; expected at least one tensor to write");
  EXPECT_NE(refusal({write(x, y), write(x * 2, y)}).find("overlap"), std::string::npos) << "it is written twice";
  EXPECT_NE(refusal({write(x * 2, at(12, {2, 3, 4}))}).find("overlap"), std::string::npos);
  EXPECT_EQ(refusal({write(x * 2, at(0, {2, 3, 4}))}), "") << "in place";
  EXPECT_EQ(refusal({write(given({6, 4}), at(500, {6, 4})), write(read(at(500, {6, 4})), at(0, {6, 4}))}), "")
      << "exchanged";
  EXPECT_NE(refusal({write(reshape(x, {6, 4}), at(0, {6, 4}))}).find("overlap"), std::string::npos)
      << "another view of the same memory";
  EXPECT_NE(refusal({write(x * 2, y), write(x, at(0, {2, 3, 4})), write(x, at(0, {2, 3, 4}))}).find("overlap"),
            std::string::npos)
      << "it is written twice";
}

TEST_F(dnn_refusals, a_graph_lists_the_memory_that_it_reads_or_writes_once) {
  const auto y = at(1000, {2, 3, 4});
  const value x = given({2, 3, 4});
  const graph g{write(x * 2, at(0, {2, 3, 4})), write(x + given<half>({2, 3, 4}) + read(at(2000, {2, 3, 4})), y)};
  std::vector<access_mode> modes;
  for (const auto& m : g.memory()) modes.push_back(m.mode);
  using enum access_mode;
  EXPECT_EQ(modes, (std::vector{read_write, access_mode::read, access_mode::read, access_mode::write}));
  EXPECT_EQ(to_string(g), "sum, sum, write, product, write") << "what is written in place comes last";
  for (std::size_t i = 0; i < modes.size(); ++i) {
    EXPECT_EQ(memory.touched(computation{g}, i).mode, modes[i]);
    EXPECT_EQ(memory.touched(prepare{{g}}, i).mode, access_mode::read);
  }
}

TEST_F(dnn_refusals, a_ready_request_names_its_wrong_field) {
  const auto x = at(0, {2, 6, 8, 8}), y = at(2000, {2, 4, 6, 6});
  const auto filters = at(4000, {4, 6, 3, 3});
  conv_forward r{.x = x, .filters = filters, .y = y};
  EXPECT_EQ(memory.refusal(r), "");
  r.filters = at(4000, {4, 5, 3, 3});
  EXPECT_EQ(memory.refusal(r),
            "dnn.conv_forward: filters is 4 x 5 x 3 x 3, with 5 input channels; expected 6, as the image has");
  EXPECT_EQ(
      memory.refusal(prepare::of(r)),
      "dnn.prepare: request.graph has a convolution whose filters is 4 x 5 x 3 x 3, with 5 input channels; expected 6, "
      "as the image has");
  r.filters = filters, r.stride = 0;
  EXPECT_EQ(memory.refusal(r), "dnn.conv_forward: stride is 0; expected at least 1");
  r.stride = 1, r.y = at(2000, {2, 4, 6, 5});
  EXPECT_EQ(memory.refusal(r), "dnn.conv_forward: y is 2 x 4 x 6 x 5; expected 2 x 4 x 6 x 6");
  r.y = y, r.bias = at(6000, {5});
  EXPECT_EQ(memory.refusal(r),
            "dnn.conv_forward: bias is 5; expected 1 x 4 x 1 x 1, where extents of 1 may be omitted");
  r.bias = {}, r.residual = y;
  EXPECT_EQ(memory.refusal(r), "dnn.conv_forward: residual is given; expected none, as its factor beta is 0");
  r.beta = 1;
  EXPECT_EQ(memory.refusal(r), "") << "the residual may be y";
  r.y = at(2001, {2, 4, 6, 6});
  EXPECT_NE(memory.refusal(r).find("dnn.conv_forward: y overlaps residual"), std::string::npos) << memory.refusal(r);
  r.residual = {}, r.y = at(12, {2, 4, 6, 6});
  EXPECT_NE(memory.refusal(r).find("dnn.conv_forward: y overlaps x"), std::string::npos) << memory.refusal(r);
  EXPECT_EQ(memory.refusal(conv_weight_backward{.dy = y, .x = x, .dfilters = at(4000, {4, 6, 3})}),
            "dnn.conv_weight_backward: dfilters has 3 axes; expected 4, as dy has");
  EXPECT_EQ(memory.refusal(layer_norm_forward{.x = x, .y = x, .scale = at(4000, {8})}),
            "dnn.layer_norm_forward: offset is not given; expected a tensor, as scale is given");
  EXPECT_EQ(memory.refusal(activation_backward{.dy = x, .dx = x, .activation = activation_kind::gelu, .y = x}),
            "dnn.activation_backward: activation is gelu; expected a function whose derivative follows from y; "
            "otherwise give x");
  EXPECT_EQ(memory.refusal(activation_forward{.x = x, .y = x, .activation = activation_kind(11)}),
            "dnn.activation_forward: activation is 11; expected none, relu, leaky_relu, elu, gelu, gelu_tanh, silu, "
            "tanh, sigmoid, softplus or hard_swish");
  EXPECT_EQ(memory.refusal(pool_forward{.x = x, .y = x, .window = 2, .kind = pooling_kind(9)}),
            "dnn.pool_forward: kind is 9; expected maximum, mean or mean_of_image");
}

TEST_F(dnn_refusals, a_ready_request_names_the_wrong_element_of_a_list) {
  const auto x = at(0, {3, 2, 5}), y = at(100, {3, 2, 4});
  const rnn_weights first{.input = at(200, {12, 5}), .recurrent = at(300, {12, 4})},
      second{.input = at(400, {12, 4}), .recurrent = at(500, {12, 4})};
  rnn_forward r{.x = x, .y = y, .weights = {first, second}, .cell = recurrent_cell::gru};
  EXPECT_EQ(memory.refusal(r), "");
  EXPECT_EQ(r.reserve_elements(), 3 * 2 * (2 * (12 + 4 + 4) + 4)) << "gates, before reset, h before; y of the first";
  r.weights[1].recurrent = at(500, {12, 5});
  EXPECT_EQ(memory.refusal(r),
            "dnn.rnn_forward: weights[1].recurrent is 12 x 5; expected 12 x 4: without a projection, as many columns "
            "as rows for each gate");
  EXPECT_EQ(r.reserve_elements(), 0);
  r.weights[1] = second, r.weights[0].projection = at(600, {4, 4});
  EXPECT_EQ(memory.refusal(r),
            "dnn.rnn_forward: weights[0].projection is given to a GRU; expected an LSTM, or no projection");
  r.weights[0] = first, r.weights[0].input_bias = at(600, {12});
  EXPECT_EQ(memory.refusal(r),
            "dnn.rnn_forward: weights[0].input_bias is given; expected recurrent_bias to be given, too");
  r.weights[0] = first, r.last_h = at(600, {2, 2, 5});
  EXPECT_EQ(memory.refusal(r), "dnn.rnn_forward: last_h is 2 x 2 x 5; expected 2 x 2 x 4");
  r.last_h = at(600, {2, 2, 4}), r.last_c = at(700, {2, 2, 4});
  EXPECT_EQ(memory.refusal(r), "dnn.rnn_forward: last_c is given; expected an LSTM, or none");
  r.last_c = {}, r.reserve = at(700, {100});
  EXPECT_EQ(memory.refusal(r), "dnn.rnn_forward: reserve is 100; expected 264, see reserve_elements");
  r.reserve = {}, r.last_h = at(498, {2, 2, 4});
  EXPECT_EQ(memory.refusal(r).find("dnn.rnn_forward: last_h overlaps weights[1].recurrent"), 0u) << memory.refusal(r);
}

TEST_F(dnn_refusals, states_are_refused_unless_they_are_one_tensor_with_an_entry_for_each_layer) {
  const rnn_weights w{.input = at(200, {12, 4}), .recurrent = at(300, {12, 4})};
  const auto h = at(400, {2, 2, 4});
  rnn_forward r{.x = at(0, {3, 2, 4}), .y = at(100, {3, 2, 4}), .weights = {w, w}, .cell = recurrent_cell::gru};
  r.initial_h = h, r.last_h = h;
  EXPECT_EQ(memory.refusal(r), "") << "the last states may replace the first";
  r.last_h = at(404, {2, 2, 4});
  EXPECT_NE(memory.refusal(r).find("last_h overlaps initial_h"), std::string::npos) << memory.refusal(r);
  r.last_h = tensor<float>(buffer<float>(memory.at<float>(400, 16).range), {2, 2, 4}, {4, 8, 1});
  EXPECT_EQ(memory.refusal(r),
            "dnn.rnn_forward: last_h has interleaved layers; expected each layer's states after those "
            "of the layer before it");
  const tensor<float> beyond(buffer<float>(memory.at<float>(400, 15).range), {2, 2, 4});
  r.last_h = beyond;
  EXPECT_NE(memory.refusal(r).find("dnn.rnn_forward: last_h"), std::string::npos) << memory.refusal(r);
  r.last_h = {}, r.initial_h = beyond;
  EXPECT_NE(memory.refusal(r).find("dnn.rnn_forward: initial_h"), std::string::npos) << memory.refusal(r);
  r.initial_h = h, r.reserve = tensor<float>(buffer<float>(memory.at<float>(600, 15).range), {r.reserve_elements()});
  EXPECT_NE(memory.refusal(r).find("dnn.rnn_forward: reserve"), std::string::npos) << memory.refusal(r);
  r.reserve = at(404, {r.reserve_elements()});
  EXPECT_NE(memory.refusal(r).find("reserve overlaps initial_h"), std::string::npos) << memory.refusal(r);
}

}  // namespace
}  // namespace troupe::dnn
