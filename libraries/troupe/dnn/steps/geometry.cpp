// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {

window_geometry::window_geometry(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                                 const std::int64_t* widths) noexcept {
  std::fill_n(in, most_spatial, 1), std::fill_n(out, most_spatial, 1), std::fill_n(width, most_spatial, 1);
  std::fill_n(before, most_spatial, 0), std::fill_n(step, most_spatial, 1), std::fill_n(dilation, most_spatial, 1);
  const std::size_t spatial = image.rank - 2, first = most_spatial - spatial;
  for (std::size_t i = 0; i < spatial; ++i) {
    in[first + i] = image.extents[2 + i], out[first + i] = result.extents[2 + i], width[first + i] = widths[i];
    before[first + i] = s.before[i], step[first + i] = s.step[i], dilation[first + i] = s.dilation[i];
  }
}

std::pair<std::int64_t, std::int64_t> window_geometry::seen(std::size_t i, std::int64_t f) const noexcept {
  const std::int64_t shift = f * dilation[i] - before[i];  // the place at position 0
  const std::int64_t first = shift >= 0 ? 0 : (-shift + step[i] - 1) / step[i];
  const std::int64_t last = in[i] - 1 - shift < 0 ? 0 : (in[i] - 1 - shift) / step[i] + 1;
  return {std::min(first, out[i]), std::clamp<std::int64_t>(last, std::min(first, out[i]), out[i])};
}

tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept {
  if (groups <= 1) return s;
  tensor_shape out{.rank = s.rank + 1};
  for (std::size_t i = 0; i < s.rank; ++i) out.extents[i < 2 ? i : i + 1] = s.extents[i];
  const bool one = s.extents[1] == 1 && !statistics;  // the same for all channels
  out.extents[1] = one ? 1 : groups;
  out.extents[2] = statistics || one ? 1 : s.extents[1] / groups;
  out.strides = dense_strides(out);
  return out;
}

}  // namespace troupe::dnn
