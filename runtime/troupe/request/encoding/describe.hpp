// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/operands/view_shape.hpp>
#include <troupe/request/ready_request.hpp>

namespace troupe {
namespace detail {

std::string text(extent e);
std::string text(double v);
std::string text(const std::string& s);
std::string text(std::string_view type, const memory_range& r, std::uint64_t elements);
std::string text(const matrix_shape& s);  ///< "2 x 3 with strides 3, 1"
std::string text(const tensor_shape& s);
std::string extents_text(std::span<const std::int64_t> extents);  ///< "2 x 3"
std::string extents_text(const matrix_shape& s);
std::string extents_text(const tensor_shape& s);

template <class F>
std::string field_text(const F& f);
template <class T>
std::string field_text(const scalar<T>& s);

/// Returns the fields in words: "{x=f32[100]@200000000000, n=100}".
template <class R>
std::string fields_text(const R& r) {
  std::string out = "{";
  R::visit_fields(r, [&out](std::string_view names, const auto&... f) {
    std::size_t i = 0;
    ((out.append(i == 0 ? "" : ", ").append(nth_name(names, i)).append("=").append(field_text(f)), ++i), ...);
  });
  return out += "}";
}

template <class T>
std::string field_text(const scalar<T>& s) {
  return s.by_value() ? field_text(s.value()) : text(element_name<T>(), s.range(), s.range().bytes / sizeof(T));
}

template <class F>
std::string field_text(const F& f) {
  if constexpr (field_group<F>)
    return fields_text(f);
  else if constexpr (requires { typename F::shape_type; })
    return text(element_name<typename F::element_type>(), f.range(), f.size()) + " as " + text(f.shape());
  else if constexpr (is_operand<F>)
    return text(element_name<typename F::element_type>(), f.range(), f.size());
  else if constexpr (std::is_same_v<F, extent> || std::is_same_v<F, troupe::text>)
    return text(f);
  else if constexpr (requires { f.real, f.imag; })
    return "(" + field_text(f.real) + "," + field_text(f.imag) + ")";
  else if constexpr (requires { f.has_value(); })
    return f ? field_text(*f) : "none";
  else if constexpr (std::is_same_v<F, bool>)
    return f ? "true" : "false";
  else if constexpr (std::is_enum_v<F>) {
    if constexpr (requires { to_string(f); })
      return std::string(to_string(f));
    else
      return std::to_string(static_cast<long long>(f));
  } else if constexpr (std::is_integral_v<F>)
    return std::to_string(f);
  else if constexpr (std::is_floating_point_v<F>)
    return text(static_cast<double>(f));
  else if constexpr (requires { std::string(to_string(f)); })
    return std::string(to_string(f));
  else if constexpr (requires { f.size(); })
    return "list of " + std::to_string(f.size());
  else
    return std::to_string(sizeof f) + " bytes";
}

}  // namespace detail

/// Returns a readable form of a request, for example blas.axpy<f32>{x=f32[100]@200000000000, y=f32[100]@200000001000,
/// n=100, alpha=2, ...}
template <any_request R>
std::string describe(const R& r) {
  return std::string(name_of<R>()) + detail::fields_text(r);
}

}  // namespace troupe
