// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <troupe/windows/geometry.hpp>
#include <type_traits>

/// Windows that slide over images: their options in requests, and the image elements that they cover.
namespace troupe::windows {

/// One number for each spatial axis of an image, or one for all axes. A type for fields of requests.
class per_axis {
 public:
  /// Makes an unset value.
  constexpr per_axis() noexcept : count_(not_given) {}
  constexpr per_axis(std::int64_t for_all) noexcept : numbers_{for_all, for_all, for_all} {}
  constexpr per_axis(std::initializer_list<std::int64_t> each) noexcept
      : count_(static_cast<std::int64_t>(each.size())) {
    std::size_t i = 0;
    for (const std::int64_t n : each)
      if (i < most_spatial) numbers_[i++] = n;
  }
  constexpr bool given() const noexcept { return count_ != not_given; }
  /// Returns how many axes have a number of their own; 0 if one number is for all axes, or if none is given.
  constexpr std::size_t count() const noexcept { return given() ? static_cast<std::size_t>(count_) : 0; }
  /// Returns this if it is given, otherwise `other`.
  constexpr per_axis or_else(const per_axis& other) const noexcept { return given() ? *this : other; }
  constexpr std::int64_t operator[](std::size_t i) const noexcept { return numbers_[i]; }

  friend bool operator==(const per_axis&, const per_axis&) = default;

 private:
  static constexpr std::int64_t not_given = -1;
  std::int64_t numbers_[most_spatial] = {};
  std::int64_t count_ = 0;
};
static_assert(std::has_unique_object_representations_v<per_axis>);  // requests are compared by their bytes

/// Returns a text such as "1" or "(1, 2)"; "none" if no number is given.
std::string to_string(const per_axis& p);

}  // namespace troupe::windows
