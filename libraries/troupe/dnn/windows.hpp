// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <troupe/dnn/forms.hpp>
#include <troupe/dnn/producer.hpp>

namespace troupe::dnn {

/// A number for each spatial index of an image: one for all, or up to three.
class per_index {
 public:
  /// Not given.
  constexpr per_index() noexcept : given_(false) {}
  constexpr per_index(std::int64_t for_all) noexcept : numbers_{for_all, for_all, for_all} {}
  constexpr per_index(std::initializer_list<std::int64_t> each) noexcept : count_(each.size()) {
    std::size_t i = 0;
    for (const std::int64_t n : each)
      if (i < most_spatial) numbers_[i++] = n;
  }
  /// Returns how many were given; 0: one for all.
  constexpr std::size_t count() const noexcept { return count_; }
  constexpr per_index or_else(const per_index& other) const noexcept { return given_ ? *this : other; }
  constexpr std::int64_t operator[](std::size_t i) const noexcept { return numbers_[i]; }

 private:
  std::int64_t numbers_[most_spatial] = {};
  std::size_t count_ = 0;
  bool given_ = true;
};

namespace detail {

/// Writes what is given for each spatial index, and refuses another number of them, or one below `least`.
void spread(maker& m, std::string_view field, const per_index& given, std::size_t spatial, std::int64_t least,
            std::int64_t (&to)[most_spatial]);
/// Returns how often a window of `width` elements fits along spatial index `i` of an image of `length`; less than 1 if
/// never.
std::int64_t positions(const sliding& s, std::size_t i, std::int64_t length, std::int64_t width) noexcept;

}  // namespace detail

}  // namespace troupe::dnn
