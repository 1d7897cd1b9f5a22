// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/dnn/operations/windows/sliding.hpp>
#include <troupe/dnn/operations/windows/spatial.hpp>
#include <troupe/windows/geometry.hpp>

namespace troupe::dnn::detail {

void spread(node_maker& m, std::string_view field, const windows::per_axis& given, std::size_t spatial,
            std::int64_t least, std::int64_t (&to)[most_spatial]) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // so that a sum of a few such numbers cannot overflow
  if (given.count() != 0 && given.count() != spatial)
    return m.refuse(field, cat("has ", given.count(), " numbers"),
                    cat(spatial, ", one for each spatial axis, or one number for all"));
  for (std::size_t i = 0; i < spatial; ++i) {
    if (given[i] < least) return m.refuse(field, cat("is ", given[i]), cat("at least ", least));
    if (given[i] >= most) return m.refuse(field, cat("is ", given[i]), cat("less than ", most));
    to[i] = given[i];
  }
}

std::int64_t positions(const sliding& s, std::size_t i, std::int64_t length, std::int64_t width) noexcept {
  return windows::positions_along({s.padding_before[i], s.padding_after[i], s.stride[i], s.dilation[i]}, length, width);
}

}  // namespace troupe::dnn::detail
