// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace troupe {

/// A string as a template argument:
///   template <fixed_string Library> struct launch;   launch<"jit">
template <std::size_t N>
struct fixed_string {
  char text[N] = {};  ///< zero-terminated

  constexpr fixed_string() = default;
  consteval fixed_string(const char (&s)[N]) { std::copy_n(s, N, text); }

  template <std::size_t M>
  consteval fixed_string<N + M - 1> operator+(const fixed_string<M>& end) const {
    fixed_string<N + M - 1> out;
    std::copy_n(end.text, M, std::copy_n(text, N - 1, out.text));
    return out;
  }
  template <std::size_t M>
  consteval fixed_string<N + M - 1> operator+(const char (&end)[M]) const {
    return *this + fixed_string<M>(end);
  }
};

/// The characters of the string; a zero follows them.
template <fixed_string S>
inline constexpr std::string_view static_text{S.text, sizeof S.text - 1};

}  // namespace troupe
