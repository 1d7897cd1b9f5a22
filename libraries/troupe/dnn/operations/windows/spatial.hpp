// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/graph/tensor_index.hpp>
#include <troupe/windows/options.hpp>

namespace troupe::dnn::detail {

using windows::first_spatial;

/// Refuses a field that does not have a number of at least `least` for each spatial axis. Returns fine().
bool has_numbers(node_maker& m, std::string_view field, const windows::per_axis& given, std::size_t spatial,
                 std::int64_t least);

/// Sets the spatial indexes of `image` to the element of the image that element `within` of the window for result `out`
/// reads. Returns false if it is outside the image.
inline bool find_in_image(const windows::slides& s, const tensor_shape& image_shape, const tensor_index& out,
                          const tensor_index& within, tensor_index& image) noexcept {
  for (std::size_t i = first_spatial; i < image_shape.rank; ++i) {
    const windows::slide& k = s[i - first_spatial];
    image[i] = out[i] * k.stride - k.padding_before + within[i] * k.dilation;
    if (image[i] < 0 || image[i] >= image_shape.extents[i]) return false;
  }
  return true;
}

}  // namespace troupe::dnn::detail
