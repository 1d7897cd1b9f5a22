// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/dnn/attributes.hpp>
#include <troupe/dnn/producer.hpp>
#include <troupe/windows/per_axis.hpp>

namespace troupe::dnn {
static_assert(most_spatial == windows::most_spatial);

namespace detail {

/// Writes what is given for each spatial index, and refuses another number of them, or one below `least`
/// or of 2^31 and more.
void spread(maker& m, std::string_view field, const windows::per_axis& given, std::size_t spatial, std::int64_t least,
            std::int64_t (&to)[most_spatial]);
/// Returns how often a window of `width` elements fits along spatial index `i` of an image of `length`; less than 1 if
/// never.
std::int64_t positions(const sliding& s, std::size_t i, std::int64_t length, std::int64_t width) noexcept;

}  // namespace detail

}  // namespace troupe::dnn
