// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/hash/fnv.hpp>
#include <troupe/request/encoding/codec.hpp>
#include <troupe/request/encoding/fields.hpp>
#include <troupe/request/request_list.hpp>
#include <type_traits>

namespace troupe {

class checker;

/// A struct described by TROUPE_REQUEST, with `void check(checker&) const`. If it has `using reply = ...` (trivially
/// copyable, at most `max_reply_bytes`), its answer is such a value. (A struct with `to_request()` is a
/// `ready_request`.)
template <class R>
concept request = !requires(R& r) { r.to_request(); } && requires(const R& r, checker& c) {
  { R::request_name } -> std::convertible_to<std::string_view>;
  r.check(c);
};

namespace detail {
template <class R>
struct reply : std::type_identity<void> {};
template <class R>
  requires requires { typename R::reply; }
struct reply<R> : std::type_identity<typename R::reply> {};
}  // namespace detail

/// The type of the answer to a request: its `reply`, or void.
template <class R>
using reply_to = typename detail::reply<R>::type;

inline constexpr std::size_t max_reply_bytes = 64;
/// The maximum number of bytes in the fixed part of an encoded request. Parts that vary in size (text, lists) are
/// encoded in the blob.
inline constexpr std::size_t max_payload_bytes = 1024;
/// The maximum number of operands that a request can have without allocations; lists of operands may be longer.
inline constexpr std::size_t max_operands = 12;

namespace detail {

/// A text as a template argument. At most 95 characters.
struct fixed_name {
  char text[96] = {};
  std::size_t size = 0;
  constexpr void append(std::string_view s) {
    for (char c : s) text[size++] = c;
  }
  constexpr std::string_view view() const { return {text, size}; }
};

template <class R>
struct type_arguments {
  static constexpr void append(fixed_name&) {}
};
/// Appends the template arguments: "<f32>", "<f16,f32>" or "<gemm>". Equal types are named once.
template <template <class...> class R, class First, class... Rest>
struct type_arguments<R<First, Rest...>> {
  static constexpr void append(fixed_name& n) {
    n.append("<");
    n.append(element_name<First>());
    if constexpr (!(std::is_same_v<First, Rest> && ...)) ((n.append(","), n.append(element_name<Rest>())), ...);
    n.append(">");
  }
};

/// Appends the element type of a request that has its name or more as template arguments.
template <template <class, auto, auto...> class R, class T, auto Name, auto... Rest>
struct type_arguments<R<T, Name, Rest...>> : type_arguments<request_list<T>> {};

template <class R>
inline constexpr fixed_name request_label = [] {
  fixed_name n;
  n.append(R::request_name);
  type_arguments<R>::append(n);
  return n;
}();

template <class G, class... F>
constexpr std::uint64_t hash_fields(std::uint64_t h, field_list<F...>) noexcept;

template <class F>
constexpr std::uint64_t hash_field(std::uint64_t h, std::string_view name) noexcept {
  using codec = field_codec<F>;
  h = fnv1a(fnv1a(h, name), element_name<typename codec::element>());
  for (const std::uint64_t v : {static_cast<std::uint64_t>(codec::kind), std::uint64_t{codec::size},
                                std::uint64_t{codec::align}, std::uint64_t{sizeof(typename codec::element)}})
    h = fnv1a(h, v);
  if constexpr (field_group<F>) h = hash_fields<F>(h, fields_of<F>{});
  return h;
}

template <class G, class... F>
constexpr std::uint64_t hash_fields(std::uint64_t h, field_list<F...>) noexcept {
  std::size_t i = 0;
  ((h = hash_field<F>(h, nth_name(G::request_fields, i++))), ...);
  return h;
}

}  // namespace detail

/// Returns the name of a request in texts, traces and journals: "blas.gemm<f32>".
template <class R>
constexpr std::string_view name_of() noexcept {
  return detail::request_label<R>.view();
}

/// Returns the name of the library actor that serves the request: "blas".
template <class R>
constexpr std::string_view library_of() noexcept {
  return R::request_name.substr(0, length_of_library(R::request_name));
}

/// The number of a request type in messages: a hash of its name, of its fields' names and layout, and of the size and
/// type of their elements. Two builds with different fields have different numbers.
template <class R>
inline constexpr std::uint64_t opcode_of =
    detail::hash_fields<R>(fnv1a(detail::request_label<R>.view()), fields_of<R>{});

/// Returns the number of a library actor in messages.
constexpr std::uint32_t library_code(std::string_view name) noexcept { return static_cast<std::uint32_t>(fnv1a(name)); }

}  // namespace troupe
