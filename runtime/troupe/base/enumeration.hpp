// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

/// Lists all enumerators of an enumeration, in order; the only place that repeats their names. Use it after the
/// enumeration, in the same namespace. The first enumerator must be 0 and each other one 1 more than the one before it.
/// A list that omits an enumerator does not compile.
///   enum class precision : std::uint8_t { exact, tf32 };
///   TROUPE_ENUM(precision, exact, tf32)
/// Defines `is_known(precision)`, and `to_string(precision)`, which returns "tf32", for example, or "unknown". A
/// request with a field of this type is refused if the field's value is not an enumerator.
#define TROUPE_ENUM(ENUM, ...)                                                     \
  constexpr ::troupe::detail::enumerator_list troupe_enumerators(ENUM) noexcept {  \
    using enum ENUM;                                                               \
    return ::troupe::detail::list_enumerators<ENUM, __VA_ARGS__>(#__VA_ARGS__);    \
  }                                                                                \
  constexpr bool is_known(ENUM value) noexcept {                                   \
    return ::troupe::detail::index_of(value) < troupe_enumerators(value).count;    \
  }                                                                                \
  constexpr std::string_view to_string(ENUM value) noexcept {                      \
    return is_known(value) ? ::troupe::detail::enumerator_name(value) : "unknown"; \
  }

namespace troupe {

/// Returns the i-th name (from 0) in "a, b, c"; an empty string if there are fewer names.
constexpr std::string_view nth_name(std::string_view names, std::size_t i) noexcept {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= names.size(); ++at) {
    if (at < names.size() && names[at] != ',') continue;
    while (begin < at && names[begin] == ' ') ++begin;
    if (i-- == 0) return names.substr(begin, at - begin);
    begin = at + 1;
  }
  return {};
}

namespace detail {

/// The names of all enumerators of an enumeration, and their number.
struct enumerator_list {
  std::string_view names;
  std::size_t count;
};

template <class E>
constexpr std::size_t index_of(E value) noexcept {
  return static_cast<std::size_t>(static_cast<std::underlying_type_t<E>>(value));
}

/// Returns true if the value is an enumerator. Compilers print other values as numbers.
template <auto Value>
constexpr bool is_enumerator() noexcept {
  constexpr std::string_view text = __PRETTY_FUNCTION__;  // ... = ns::precision::tf32] or ... = (ns::precision)2]
  std::size_t at = text.size() - 1;
  while (text[at - 1] != ':' && text[at - 1] != ')' && text[at - 1] != ' ' && text[at - 1] != '=') --at;
  return text[at] < '0' || text[at] > '9';
}

template <class E, E... Values>
constexpr enumerator_list list_enumerators(std::string_view names) noexcept {
  constexpr bool in_order = [](std::size_t i) { return ((index_of(Values) == i++) && ...); }(0);
  static_assert(in_order, "TROUPE_ENUM lists the enumerators in order, from 0 on and without a gap");
  static_assert(!is_enumerator<static_cast<E>(sizeof...(Values))>(), "TROUPE_ENUM lists all enumerators");
  return {names, sizeof...(Values)};
}

/// The names, each followed by a zero byte, because users print them with %s.
template <class E>
inline constexpr auto terminated_names = [] {
  constexpr std::string_view names = troupe_enumerators(E{}).names;
  std::array<char, names.size() + 1> out{};
  for (std::size_t i = 0; i < names.size(); ++i) out[i] = names[i] == ',' ? '\0' : names[i];
  return out;
}();

/// Returns the name of a known enumerator.
template <class E>
constexpr std::string_view enumerator_name(E value) noexcept {
  const std::string_view names = troupe_enumerators(value).names, name = nth_name(names, index_of(value));
  return {terminated_names<E>.data() + (name.data() - names.data()), name.size()};
}

/// Returns "a, b or c" for "a, b, c".
std::string joined_with_or(std::string_view names);

}  // namespace detail

/// An enumeration that TROUPE_ENUM describes.
template <class E>
concept described_enum = std::is_enum_v<E> && requires(E value) { troupe_enumerators(value); };

/// The names of the enumerators, separated by commas: "exact, tf32".
template <described_enum E>
inline constexpr std::string_view names_of = troupe_enumerators(E{}).names;

/// Returns the names of the enumerators for an error text: "exact or tf32".
template <described_enum E>
std::string one_of() {
  return detail::joined_with_or(names_of<E>);
}

}  // namespace troupe
