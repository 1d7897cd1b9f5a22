// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>
#include <troupe/base/text/cat.hpp>
#include <troupe/windows/check.hpp>
#include <vector>

namespace troupe::windows {
namespace {

using extents = std::vector<std::int64_t>;

constexpr convolution_roles<std::string_view> names{"x", "filters", "y"};

// Returns the field, what is wrong with it and what is expected, or the extents of y.
std::string text_of(computed_tensor what, const extents& x, const extents& filters, std::optional<extents> y = {},
                    const convolution_options& o = {}, bool pairs = false) {
  static constexpr const char* fields[] = {"image",         "filters", "result",   "padding",
                                           "padding_after", "stride",  "dilation", "groups"};
  const std::span<const std::int64_t> of_y = y ? std::span<const std::int64_t>(*y) : std::span<const std::int64_t>();
  const auto [refused, computed] = check_convolution(what, {x, filters, of_y}, names, o, pairs);
  if (refused)
    return cat(fields[static_cast<std::size_t>(refused->field)], " ", refused->is, "; expected ", refused->expected);
  std::string out;
  for (std::size_t i = 0; i < x.size(); ++i) out += cat(i == 0 ? "" : " x ", computed[i]);
  return out;
}
std::string forward(const extents& x, const extents& filters, const convolution_options& o, bool pairs = false) {
  return text_of(computed_tensor::y, x, filters, {}, o, pairs);
}

TEST(convolution_checks, an_accepted_convolution_has_the_extents_of_its_result) {
  EXPECT_EQ(forward({2, 4, 5, 6}, {6, 4, 3, 3}, {.padding = 1}), "2 x 6 x 5 x 6");
  EXPECT_EQ(forward({0, 4, 9}, {6, 2, 3}, {.stride = 2, .groups = 2}), "0 x 6 x 4");
  EXPECT_EQ(forward({2, 4, 9}, {6, 4, 3}, {}, true), "2 x 3 x 7") << "an epilogue pairs the channels";
}

TEST(convolution_checks, ranks_are_compared_with_the_first_factor_of_the_request) {
  const extents x{2, 4, 5, 6}, filters{6, 4, 3}, y{2, 6, 5, 6};
  EXPECT_EQ(forward(x, filters, {}), "filters has 3 axes; expected 4, as x has");
  EXPECT_EQ(text_of(computed_tensor::dfilters, x, filters, y), "filters has 3 axes; expected 4, as y has");
  EXPECT_EQ(text_of(computed_tensor::dx, {}, x, y), "image is a number; expected 4 axes, as y has");
  EXPECT_EQ(forward({4}, filters, {}), "image has 1 axis; expected 3 to 5");
}

TEST(convolution_checks, a_given_result_must_have_the_extents_of_the_convolution) {
  const extents x{2, 4, 9}, filters{6, 4, 3}, y{2, 6, 7}, short_y{2, 6, 6}, none{2, 0, 7};
  EXPECT_EQ(text_of(computed_tensor::dx, x, filters, y), "2 x 6 x 7");
  EXPECT_EQ(text_of(computed_tensor::dx, x, filters, short_y),
            "result is 2 x 6 x 6; expected 2 x 6 x 7, as the convolution's result has");
  EXPECT_EQ(text_of(computed_tensor::y, x, filters, none),
            "result is 2 x 0 x 7; expected extents of at least 1, except the number of images");
}

TEST(convolution_checks, invalid_options_are_refused_with_what_is_expected) {
  EXPECT_EQ(forward({2, 4, 9}, {6, 4, 3}, {.padding = {1, 1}}),
            "padding has 2 numbers; expected 1, one for each spatial axis, or one number for all");
  EXPECT_EQ(forward({2, 4, 9}, {6, 4, 3}, {.padding_after = -1}), "padding_after is -1; expected at least 0");
  EXPECT_EQ(forward({2, 4, 9}, {6, 4, 3}, {.dilation = std::int64_t{1} << 31}),
            "dilation is 2147483648; expected less than 2147483648");
  EXPECT_EQ(forward({2, 4, 9}, {6, 4, 3}, {.dilation = 5}),
            "filters is 6 x 4 x 3; expected a window that fits into the padded image; x is 2 x 4 x 9");
  EXPECT_EQ(forward({2, 4, 9}, {6, 4, 3}, {.groups = 0}), "groups is 0; expected at least 1");
}

}  // namespace
}  // namespace troupe::windows
