// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <troupe/request/operands/view_shape.hpp>
#include <troupe/windows/geometry.hpp>
#include <troupe/windows/per_axis.hpp>
#include <troupe/windows/roles.hpp>

namespace troupe::windows {
namespace {

TEST(windows, positions_along_equals_the_number_of_windows_that_fit) {
  for (std::int64_t length = 1; length < 12; ++length)
    for (std::int64_t width = 1; width < 5; ++width)
      for (const slide& s : {slide{}, slide{.padding_before = 1, .padding_after = 2}, slide{.stride = 3},
                             slide{.padding_before = 2, .dilation = 2},
                             slide{.padding_before = 1, .padding_after = 1, .stride = 2, .dilation = 3}}) {
        std::int64_t counted = 0;
        for (std::int64_t at = -s.padding_before; at + s.dilation * (width - 1) < length + s.padding_after;
             at += s.stride)
          ++counted;
        EXPECT_EQ(positions_along(s, length, width), counted)
            << length << " " << width << " " << s.padding_before << " " << s.padding_after << " " << s.stride << " "
            << s.dilation;
      }
  EXPECT_LT(positions_along({.dilation = INT64_MAX / 2}, 5, 9), 1) << "dilation * (width - 1) overflows";
}

TEST(windows, positions_inside_are_those_with_a_coordinate_in_the_image) {
  for (std::int64_t length = 1; length < 9; ++length)
    for (const slide& s : {slide{}, slide{.padding_before = 3, .padding_after = 1},
                           slide{.padding_before = 1, .stride = 2, .dilation = 3},
                           slide{.padding_before = 5, .padding_after = 5, .stride = 3, .dilation = 2}}) {
      constexpr std::int64_t width = 3;
      geometry g;
      g.set(1, length, positions_along(s, length, width), width, s);
      if (g.out[1] < 1) continue;
      for (std::int64_t f = 0; f < width; ++f) {
        const auto [first, last] = g.positions_inside(1, f);
        for (std::int64_t o = 0; o < g.out[1]; ++o)
          EXPECT_EQ(o >= first && o < last, g.at(1, o, f) >= 0 && g.at(1, o, f) < length)
              << length << " " << f << " " << o;
      }
    }
}

TEST(windows, the_size_of_a_convolution_counts_channels_and_outputs_of_one_group) {
  const tensor_shape image{.rank = 3, .extents = {5, 4, 9}}, filters{.rank = 3, .extents = {6, 2, 3}},
      result{.rank = 3, .extents = {5, 6, 4}};
  const auto c = convolution_geometry::of({{{.stride = 2}}}, 2, {image, filters, result});
  EXPECT_EQ(c.images, 5);
  EXPECT_EQ(c.groups, 2);
  EXPECT_EQ(c.channels_of_group, 2);
  EXPECT_EQ(c.filters_of_group, 3);
  EXPECT_EQ(c.in[2], 9);
  EXPECT_EQ(c.window[2], 3);
  EXPECT_EQ(c.out[2], 4);
  EXPECT_EQ(c.stride[2], 2);
}

TEST(windows, per_axis_prints_its_numbers_and_can_be_unset) {
  EXPECT_EQ(to_string(per_axis(2)), "2");
  EXPECT_EQ(to_string(per_axis{1, 0, 3}), "(1, 0, 3)");
  EXPECT_EQ(to_string(per_axis{1, 2, 3, 4}), "(1, 2, 3, ...)");
  EXPECT_EQ(to_string(per_axis()), "none");
  EXPECT_EQ(per_axis().or_else(7), per_axis(7));
  EXPECT_EQ(per_axis(1).or_else(7), per_axis(1));
}

}  // namespace
}  // namespace troupe::windows
