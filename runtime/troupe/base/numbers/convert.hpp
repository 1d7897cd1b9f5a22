// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <troupe/base/half.hpp>
#include <troupe/base/result.hpp>
#include <type_traits>

namespace troupe {

namespace detail {
void convert_elements(const float* from, half* to, std::size_t count) noexcept;
void convert_elements(const half* from, float* to, std::size_t count) noexcept;
error unequal_spans(std::size_t from, std::size_t to);
}  // namespace detail

/// The types that `convert` writes: floating-point types.
template <class T>
concept convertible_target = narrow_float<T> || std::same_as<T, float> || std::same_as<T, double>;

/// Converts every element of `from` to the type of `to`. The result equals that of converting elements one by one, bit
/// for bit; between float and half it is faster on processors with F16C. `choice` has an effect only if the target is
/// narrower than a float. The spans must not overlap. Fails with `caller_bug` if their lengths differ.
template <class From, convertible_target To>
  requires convertible_number<std::remove_const_t<From>>
result<void> convert(std::span<From> from, std::span<To> to, on_overflow choice = on_overflow::standard) {
  using source = std::remove_const_t<From>;
  constexpr bool float_to_half = std::same_as<source, float> && std::same_as<To, half>;
  constexpr bool half_to_float = std::same_as<source, half> && std::same_as<To, float>;
  if (from.size() != to.size()) return detail::unequal_spans(from.size(), to.size());
  if constexpr (float_to_half || half_to_float) {
    if (half_to_float || choice == on_overflow::standard) {
      detail::convert_elements(from.data(), to.data(), from.size());
      return {};
    }
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if constexpr (narrow_float<To>)
      to[i] = To::convert(from[i], choice);
    else
      to[i] = static_cast<To>(from[i]);
  }
  return {};
}

}  // namespace troupe
