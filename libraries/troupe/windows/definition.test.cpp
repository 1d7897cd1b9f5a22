// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/windows/definition.hpp>
#include <vector>

namespace troupe::windows {
namespace {

// One image of 4 elements with 2 groups of 1 channel, and 2 filters of 2 elements. With padding, the two channels are 0
// 1 2 3 4 and 0 5 6 7 8; windows start at 0 and 2.
const convolution_roles<std::vector<double>> values{{1, 2, 3, 4, 5, 6, 7, 8}, {10, 1, 100, 1}, {1, 2, 3, 4}};

std::vector<double> computed(computed_tensor what) {
  const convolution_definition c{
      what,
      {{{1, 0, 2, 1}}},
      2,
      {{.rank = 3, .extents = {1, 2, 4}}, {.rank = 3, .extents = {2, 1, 2}}, {.rank = 3, .extents = {1, 2, 2}}}};
  const auto element_of = [](const std::vector<double>& v, const tensor_shape& s) {
    return [&v, &s](const tensor_index& at) {
      return v[static_cast<std::size_t>((at[0] * s.extents[1] + at[1]) * s.extents[2] + at[2])];
    };
  };
  std::vector<double> out;
  for_each_index(c.shapes.computed(what), 0, {}, [&](const tensor_index& at) {
    out.push_back(c.element(at, element_of(values.first(what), c.shapes.first(what)),
                            element_of(values.second(what), c.shapes.second(what))));
  });
  return out;
}

TEST(convolution_definition, a_convolution_applies_padding_stride_and_groups) {
  EXPECT_EQ(computed(computed_tensor::y), (std::vector<double>{1, 23, 5, 607}));
}

TEST(convolution_definition, gradients_apply_padding_stride_and_groups) {
  EXPECT_EQ(computed(computed_tensor::dx), (std::vector<double>{1, 20, 2, 0, 3, 400, 4, 0}));
  EXPECT_EQ(computed(computed_tensor::dfilters), (std::vector<double>{4, 7, 24, 43}));
}

}  // namespace
}  // namespace troupe::windows
