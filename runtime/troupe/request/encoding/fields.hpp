// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/base/enumeration.hpp>
#include <troupe/request/operands/operand.hpp>
#include <utility>

/// Lists all fields of a struct, inside it and in order; the only place that does. The list is unpacked by a structured
/// binding, so one that omits a field does not compile. A struct with nothing but TROUPE_FIELDS may be a field of
/// requests, as if its fields were the request's own; error texts name them "options.precision".
#define TROUPE_FIELDS(...)                                                                                \
  static constexpr std::string_view request_fields = #__VA_ARGS__;                                        \
  template <class Troupe_self, class Troupe_visitor>                                                      \
  static constexpr decltype(auto) visit_fields(Troupe_self& troupe_self, Troupe_visitor&& troupe_visit) { \
    auto& [__VA_ARGS__] = troupe_self;                                                                    \
    return troupe_visit(request_fields, __VA_ARGS__);                                                     \
  }

/// States the name of a request and lists its fields, inside its struct; the only place that does.
///   TROUPE_REQUEST("blas.axpy", x, y, n, alpha, incx, incy)
#define TROUPE_REQUEST(NAME, ...)                                         \
  [[maybe_unused]] static constexpr std::string_view request_name = NAME; \
  TROUPE_FIELDS(__VA_ARGS__)

namespace troupe {

template <class... F>
struct field_list {
  static constexpr std::size_t count = sizeof...(F);
};

namespace detail {
/// Makes the list of a request's field types.
struct list_fields {
  template <class... F>
  constexpr field_list<F...> operator()(std::string_view, F&...) const noexcept {
    return {};
  }
};
}  // namespace detail

/// The list of the types of a request's fields.
template <class R>
using fields_of = decltype(R::visit_fields(std::declval<R&>(), detail::list_fields{}));

/// Returns the length of the library's name in the name of a request.
constexpr std::size_t length_of_library(std::string_view request_name) noexcept {
  // string_view::find compares pointers, which g++ 12 with a sanitizer does not accept in a constant expression for
  // texts of a template.
  std::size_t length = 0;
  while (length < request_name.size() && request_name[length] != '.') ++length;
  return length;
}

/// A struct whose fields TROUPE_FIELDS lists, or a request. As a field of a request, it is encoded field by field.
template <class F>
concept field_group = requires { F::request_fields; };

/// Returns the name of a type in texts: "f32" for float and so on, "gemm" for a request, "bytes" for a user's struct,
/// which is encoded as it is.
template <class T>
constexpr std::string_view element_name() noexcept {
  if constexpr (requires { dtype_traits<T>::value; })
    return to_string(dtype_traits<T>::value);
  else if constexpr (requires { T::request_name; })
    return T::request_name.substr(length_of_library(T::request_name) + 1);
  else
    return "bytes";
}

template <class R>
std::string field_name(const void* request, const void* field);

namespace detail {

/// Returns "[2]", for example. Not inline, because g++ 12 warns of the text with -O3.
std::string index_text(std::size_t i);

/// Returns true if `place` is the address of the field or of one of its operands. Sets `index` to "[2]" for the third
/// operand of a list. Not inline, because it is for errors, and every request has many fields of few types.
template <class F>
[[gnu::noinline]] bool is_at(const F& field, const void* place, std::string& index) {
  // A group has the address of its first field, so only its fields are compared.
  if constexpr (field_group<F>) {
    const std::string name = field_name<F>(&field, place);
    if (name == "?") return false;
    index = "." + name;
    return true;
  }
  if (static_cast<const void*>(&field) == place) return true;
  bool found = false;
  if constexpr (operands_in<F>::any) {
    std::size_t i = 0;
    operands_in<F>::visit(field, [&](const void* at, const auto&...) {
      if (at == place && !found) {
        found = true;
        if constexpr (requires { operands_in<F>::index_of(field, place); }) i = operands_in<F>::index_of(field, place);
        if (operands_in<F>::list) index = index_text(i);
        if constexpr (requires { operands_in<F>::text_of(field, place); })
          index = operands_in<F>::text_of(field, place);
      }
      ++i;
    });
  }
  return found;
}

}  // namespace detail

/// Returns the name of the field at this address, or of the field that holds the operand at this address.
template <class R>
std::string field_name(const void* request, const void* field) {
  return R::visit_fields(*static_cast<const R*>(request), [field](std::string_view names, const auto&... f) {
    std::string index;
    std::size_t i = 0;
    const bool found = ((detail::is_at(f, field, index) || (++i, false)) || ...);
    return found ? std::string(nth_name(names, i)).append(index) : std::string("?");
  });
}

namespace detail {
template <class... F>
constexpr bool any_operands(field_list<F...>) noexcept {
  return (operands_in<std::remove_const_t<F>>::any || ...);
}
}  // namespace detail

template <field_group G>
struct operands_in<G> {
  static constexpr bool any = detail::any_operands(fields_of<G>{});
  static constexpr bool list = false;
  template <class V>
  static void visit(const G& group, V&& f) {
    const auto one = [&f]<class F>(const F& field) {
      if constexpr (operands_in<F>::any) operands_in<F>::visit(field, f);
    };
    G::visit_fields(group, [&one](std::string_view, const auto&... fields) { (one(fields), ...); });
  }
  static std::string text_of(const G& group, const void* place) { return "." + field_name<G>(&group, place); }
};

}  // namespace troupe
