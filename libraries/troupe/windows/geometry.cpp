// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/request/operands/view_shape.hpp>
#include <troupe/windows/geometry.hpp>
#include <troupe/windows/per_axis.hpp>
#include <troupe/windows/roles.hpp>

namespace troupe::windows {

std::string to_string(const per_axis& p) {
  if (!p.given()) return "none";
  if (p.count() == 0) return std::to_string(p[0]);
  std::string out = "(";
  for (std::size_t i = 0; i < std::min(p.count(), most_spatial); ++i)
    out += (i == 0 ? "" : ", ") + std::to_string(p[i]);
  return out + (p.count() > most_spatial ? ", ...)" : ")");
}

std::int64_t positions_along(const slide& s, std::int64_t image, std::int64_t window) noexcept {
  std::int64_t reach = 0, largest = 0;
  if (__builtin_mul_overflow(s.dilation, window - 1, &reach) ||
      __builtin_add_overflow(image, s.padding_before + s.padding_after - 1, &largest) || reach > largest)
    return 0;
  return (largest - reach) / s.stride + 1;
}

geometry geometry::of(const slides& s, const tensor_shape& image, const tensor_shape& result,
                      const std::int64_t* of_window) noexcept {
  geometry g;
  const std::size_t missing = most_spatial + first_spatial - image.rank;
  for (std::size_t i = first_spatial; i < image.rank; ++i)
    g.set(missing + i - first_spatial, image.extents[i], result.extents[i], of_window[i - first_spatial],
          s[i - first_spatial]);
  return g;
}

std::pair<std::int64_t, std::int64_t> geometry::positions_inside(std::size_t i, std::int64_t f) const noexcept {
  const std::int64_t shift = f * dilation[i] - padding_before[i];  // the coordinate at position 0
  const std::int64_t first = shift >= 0 ? 0 : (-shift + stride[i] - 1) / stride[i];
  const std::int64_t last = in[i] - 1 - shift < 0 ? 0 : (in[i] - 1 - shift) / stride[i] + 1;
  return {std::min(first, out[i]), std::clamp<std::int64_t>(last, std::min(first, out[i]), out[i])};
}

convolution_geometry convolution_geometry::of(const slides& s, std::int64_t groups,
                                              const convolution_roles<const tensor_shape&>& shapes) noexcept {
  const auto& [image, filters, result] = shapes;
  return {geometry::of(s, image, result, &filters.extents[first_spatial]), image.extents[0], groups, filters.extents[1],
          filters.extents[0] / groups};
}

}  // namespace troupe::windows
