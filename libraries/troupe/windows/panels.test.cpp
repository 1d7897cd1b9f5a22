// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <troupe/base/text/cat.hpp>
#include <troupe/windows/definition.hpp>
#include <troupe/windows/panels.hpp>
#include <vector>

namespace troupe::windows {
namespace {

// Images with 2 groups of `channels` channels each, in memory that panels read forward or backward.
class window_panels : public ::testing::Test {
 protected:
  std::int64_t between(int low, int high) { return low + static_cast<std::int64_t>(random_() % (high - low + 1)); }

  void draw() {
    const std::size_t spatial = static_cast<std::size_t>(between(1, 3));
    image = {.rank = first_spatial + spatial, .extents = {2, 2 * channels}}, result = image, window = image;
    for (std::size_t i = 0; i < spatial; ++i) {
      slide& s = how[i] = {between(0, 3), between(0, 3), between(1, 3), between(1, 2)};
      std::int64_t& width = window.extents[first_spatial + i] = between(1, 3);
      std::int64_t& length = image.extents[first_spatial + i] = between(1, 9);
      while (positions_along(s, length, width) < 1) ++length;
      result.extents[first_spatial + i] = positions_along(s, length, width);
    }
    g = geometry::of(how, image, result, &window.extents[first_spatial]);
    story = cat("images with ", spatial, " axes, ", image.extents[2], ", ", image.extents[3], ", ", image.extents[4],
                "; windows ", window.extents[2], ", ", window.extents[3], ", ", window.extents[4], "; stride ",
                how[0].stride, ", ", how[1].stride, ", ", how[2].stride);
  }

  // Returns the strides of a dense tensor with the spatial extents `e`.
  static image_strides strides_of(const std::int64_t* e, bool channels_last) {
    const std::int64_t n = e[0] * e[1] * e[2];
    if (channels_last) return {2 * channels * n, 1, {2 * channels * e[1] * e[2], 2 * channels * e[2], 2 * channels}};
    return {2 * channels * n, n, {e[1] * e[2], e[2], 1}};
  }
  // Returns the offset of an element of a tensor with these strides.
  static std::int64_t offset_of(const image_strides& s, const tensor_index& at, std::size_t rank) {
    std::int64_t offset = at[0] * s.item + at[1] * s.channel;
    for (std::size_t i = first_spatial; i < rank; ++i) offset += at[i] * s.spatial[most_spatial + i - rank];
    return offset;
  }
  // Calls `f(row, column, offset)` for each element of a group's matrix, as the definition has it. `offset` is -1 if
  // the element is outside the tensor that is read.
  template <class F>
  void for_each_element(const panels& p, const image_strides& s, bool backward, std::int64_t group, F&& f) const {
    const tensor_shape &rows = backward ? image : result, &from = backward ? result : image;
    std::int64_t row = 0;
    for (std::int64_t n = 0; n < image.extents[0]; ++n)
      for_each_index(rows, first_spatial, {n}, [&](const tensor_index& at) {
        std::int64_t tap = 0;
        for_each_index(window, first_spatial, {}, [&](const tensor_index& within) {
          tensor_index found{n};
          const bool inside =
              backward ? find_position(how, from, at, within, found) : find_in_image(how, from, at, within, found);
          for (std::int64_t c = 0; c < channels; ++c) {
            found[1] = group * channels + c;
            f(row, p.k_of(c, tap), inside ? offset_of(s, found, image.rank) : -1);
          }
          ++tap;
        });
        ++row;
      });
  }

  static constexpr std::int64_t channels = 3;
  tensor_shape image, result, window;
  slides how;
  geometry g;
  std::string story;
  thread_team team{1};

 private:
  std::mt19937 random_{11};
};

TEST_F(window_panels, gathered_elements_are_those_that_the_definition_of_a_convolution_reads) {
  for (int i = 0; i < 60; ++i)
    for (const bool backward : {false, true})
      for (const bool contiguous_k : {false, true}) {
        draw();
        SCOPED_TRACE(cat(story, backward ? ", backward" : "", contiguous_k ? ", channels last" : ""));
        const image_strides s = strides_of(backward ? g.out : g.in, contiguous_k);
        const panels p(s, g, backward, channels, contiguous_k);
        std::vector<float> memory(static_cast<std::size_t>(2 * s.item));
        std::iota(memory.begin(), memory.end(), 1.0f);
        const auto read = [&](std::int64_t element, std::int64_t stride, float* to, std::int64_t n) {
          for (std::int64_t q = 0; q < n; ++q) to[q] = memory.at(static_cast<std::size_t>(element + q * stride));
        };
        const std::int64_t rows = 2 * p.positions(), first = between(0, static_cast<int>(rows) - 1),
                           count = between(1, static_cast<int>(rows - first));
        std::vector<float> gathered(static_cast<std::size_t>(count * p.k()), -1);
        p.gather({1, first, count, 0, channels}, gathered.data(), team, read);
        int wrong = 0;
        for_each_element(p, s, backward, 1, [&](std::int64_t row, std::int64_t column, std::int64_t offset) {
          if (row < first || row >= first + count) return;
          const std::int64_t at = contiguous_k ? (row - first) * p.k() + column : column * count + row - first;
          const float expected = offset < 0 ? 0 : memory[static_cast<std::size_t>(offset)];
          if (gathered[static_cast<std::size_t>(at)] != expected && ++wrong == 1)
            ADD_FAILURE() << "row " << row << ", column " << column << " is " << gathered[static_cast<std::size_t>(at)]
                          << ", expected " << expected;
        });
        if (wrong != 0) return;
      }
}

TEST_F(window_panels, a_column_is_scattered_to_the_elements_that_it_was_gathered_from) {
  for (int i = 0; i < 60; ++i) {
    draw();
    SCOPED_TRACE(story);
    const image_strides s = strides_of(g.in, false);
    const panels p(s, g, false, channels, false);
    const std::int64_t rows = 2 * p.positions();
    std::vector<float> values(static_cast<std::size_t>(rows)), sums(static_cast<std::size_t>(2 * s.item)),
        expected = sums;
    std::iota(values.begin(), values.end(), 1.0f);
    for (std::int64_t column = 0; column < p.k(); ++column)
      p.scatter_column({1, 0, rows, 0, channels}, column / g.window_size(), column % g.window_size(), values.data(),
                       [&](std::int64_t element, std::int64_t stride, const float* from, std::int64_t n) {
                         for (std::int64_t q = 0; q < n; ++q)
                           sums.at(static_cast<std::size_t>(element + q * stride)) += from[q];
                       });
    for_each_element(p, s, false, 1, [&](std::int64_t row, std::int64_t, std::int64_t offset) {
      if (offset >= 0) expected[static_cast<std::size_t>(offset)] += values[static_cast<std::size_t>(row)];
    });
    ASSERT_EQ(sums, expected);
  }
}

}  // namespace
}  // namespace troupe::windows
