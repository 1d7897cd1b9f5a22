// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For sources of this repository: not installed, and not included by any installed header.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace troupe {
namespace detail {

/// One part of a text: a string, or the digits of a number.
class text_part {
 public:
  template <class S>
    requires std::convertible_to<const S&, std::string_view>
  text_part(const S& s) noexcept : view_(s) {}
  text_part(char c) noexcept : room_{c}, view_(room_.data(), 1) {}
  text_part(bool) = delete;  // ambiguous: "true" or "1"
  template <std::integral I>
  text_part(I n) noexcept
      : room_{}, view_(room_.data(), std::to_chars(room_.data(), room_.data() + room_.size(), n).ptr - room_.data()) {}
  text_part(const text_part&) = delete;

  std::string_view view() const noexcept { return view_; }

 private:
  std::array<char, 24> room_{};
  std::string_view view_;
};

std::string joined(std::initializer_list<std::string_view> parts);

}  // namespace detail

/// Concatenates the parts: strings as they are, integers in decimal.
template <class... Parts>
std::string cat(const Parts&... parts) {
  return detail::joined({detail::text_part(parts).view()...});
}

/// Returns a number and what it counts: counted(1, "axis", "axes") is "1 axis".
template <std::integral I>
std::string counted(I n, std::string_view one, std::string_view many) {
  return cat(n, ' ', n == 1 ? one : many);
}

}  // namespace troupe
