// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/request/operand.hpp>
#include <utility>

/// The one description of a request, written once inside its struct: its name and all its fields, in order.
///   TROUPE_REQUEST("blas.axpy", x, y, n, alpha, incx, incy)
/// The fields are unpacked by a structured binding, so the compiler refuses a list that leaves one out.
#define TROUPE_REQUEST(NAME, ...)                                                                         \
  static constexpr std::string_view request_name = NAME;                                                  \
  static constexpr std::string_view request_fields = #__VA_ARGS__;                                        \
  template <class Troupe_self, class Troupe_visitor>                                                      \
  static constexpr decltype(auto) visit_fields(Troupe_self& troupe_self, Troupe_visitor&& troupe_visit) { \
    auto& [__VA_ARGS__] = troupe_self;                                                                    \
    return troupe_visit(request_fields, __VA_ARGS__);                                                     \
  }

namespace troupe {

template <class... F>
struct field_list {
  static constexpr std::size_t count = sizeof...(F);
};

namespace detail {
/// The fields of a request, for its encoding.
struct list_fields {
  template <class... F>
  constexpr field_list<F...> operator()(std::string_view, F&...) const noexcept {
    return {};
  }
};
}  // namespace detail

/// The types of a request's fields.
template <class R>
using fields_of = decltype(R::visit_fields(std::declval<R&>(), detail::list_fields{}));

/// "f32" for float and so on; "bytes" for a struct of the user's own, which travels as it is.
template <class T>
constexpr std::string_view element_name() noexcept {
  if constexpr (requires { dtype_traits<T>::value; })
    return to_string(dtype_traits<T>::value);
  else
    return "bytes";
}

/// The i-th name in "a, b, c".
constexpr std::string_view nth_name(std::string_view names, std::size_t i) noexcept {
  for (; i > 0; --i) {
    const std::size_t comma = names.find(',');
    if (comma == std::string_view::npos) return {};
    names.remove_prefix(comma + 1);
  }
  while (!names.empty() && names.front() == ' ') names.remove_prefix(1);
  return names.substr(0, names.find(','));
}

namespace detail {

/// "" when `place` is the field or its only operand, "[2]" when it is the third of a list; nothing when it is
/// elsewhere.
template <class F>
bool is_at(const F& field, const void* place, std::string& index) {
  if (static_cast<const void*>(&field) == place) return true;
  bool found = false;
  if constexpr (operands_in<F>::any) {
    std::size_t i = 0;
    operands_in<F>::visit(field, [&](const void* at, const auto&...) {
      if (at == place && !found) {
        found = true;
        if constexpr (requires { operands_in<F>::index_of(field, place); }) i = operands_in<F>::index_of(field, place);
        if (operands_in<F>::list) index = "[" + std::to_string(i) + "]";
        if constexpr (requires { operands_in<F>::text_of(field, place); })
          index = operands_in<F>::text_of(field, place);
      }
      ++i;
    });
  }
  return found;
}

}  // namespace detail

/// The name of the field at `field`, or of the one that holds this operand, found by its address.
template <class R>
std::string field_name(const void* request, const void* field) {
  return R::visit_fields(*static_cast<const R*>(request), [field](std::string_view names, const auto&... f) {
    std::string out = "?", index;
    std::size_t i = 0;
    ((detail::is_at(f, field, index) ? void(out = std::string(nth_name(names, i)) + index) : void(), ++i), ...);
    return out;
  });
}

}  // namespace troupe
