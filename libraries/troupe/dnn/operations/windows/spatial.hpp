// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/graph/tensor_index.hpp>
#include <troupe/dnn/operations/windows/sliding.hpp>
#include <troupe/windows/per_axis.hpp>

namespace troupe::dnn {
static_assert(most_spatial == windows::most_spatial);

namespace detail {

/// Writes the number for each spatial axis to `to`. Refuses a wrong count of numbers, and numbers below `least` or from
/// 2^31 on.
void spread(node_maker& m, std::string_view field, const windows::per_axis& given, std::size_t spatial,
            std::int64_t least, std::int64_t (&to)[most_spatial]);
/// Returns the number of positions of a window of `width` elements along spatial axis `i` of an image of `length`
/// elements; less than 1 if the window does not fit.
std::int64_t positions(const sliding& s, std::size_t i, std::int64_t length, std::int64_t width) noexcept;

/// The first spatial axis: axes 0 and 1 are image and channel.
inline constexpr std::size_t first_spatial = 2;

/// Sets the spatial indexes of `image` to the element of the image that element `within` of the window for result `out`
/// reads. Returns false if it is outside the image.
inline bool find_in_image(const sliding& s, const tensor_shape& image_shape, const tensor_index& out,
                          const tensor_index& within, tensor_index& image) noexcept {
  for (std::size_t i = first_spatial; i < image_shape.rank; ++i) {
    const std::size_t k = i - first_spatial;
    image[i] = out[i] * s.stride[k] - s.padding_before[k] + within[i] * s.dilation[k];
    if (image[i] < 0 || image[i] >= image_shape.extents[i]) return false;
  }
  return true;
}

}  // namespace detail

}  // namespace troupe::dnn
