// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/dnn/attributes.hpp>
#include <troupe/dnn/node_maker.hpp>
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

}  // namespace detail

}  // namespace troupe::dnn
