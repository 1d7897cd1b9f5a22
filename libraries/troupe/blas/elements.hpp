// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <troupe/base/complex.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/base/text/fixed_string.hpp>
#include <troupe/request/request_list.hpp>
#include <type_traits>

/// The element types of blas.
///
/// Requests with the same fields are one struct, with the request's name and whether it has elements T as further
/// template arguments: `template <class T> using symv = full_product<T, "blas.symv", is_full<T>>;`
namespace troupe::blas {

template <class T>
inline constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
inline constexpr bool is_complex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
/// float, double, complex64, complex128: the types that most operations compute with.
template <class T>
inline constexpr bool is_full = is_real<T> || is_complex<T>;
using real_types = types<float, double>;
using complex_types = types<complex64, complex128>;
using full_types = types<float, double, complex64, complex128>;

namespace detail {
/// The type in which products of T are summed if the result has elements C, or void if there is no such product.
template <class T, class C>
struct compute : std::type_identity<void> {};
template <class T>
  requires is_full<T>
struct compute<T, T> : std::type_identity<T> {};
template <class T, class C>
  requires((std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) &&
           (std::is_same_v<C, T> || std::is_same_v<C, float>))
struct compute<T, C> : std::type_identity<float> {};
template <class C>
  requires(std::is_same_v<C, std::int32_t> || std::is_same_v<C, float>)
struct compute<std::int8_t, C> : std::type_identity<C> {};
}  // namespace detail

/// The type in which products of elements T are summed if the result has elements C; also the type of alpha and beta.
template <class T, class C = T>
using compute_of = typename detail::compute<T, C>::type;
template <class T, class C = T>
inline constexpr bool has_product = !std::is_void_v<compute_of<T, C>>;

/// True if the name of request R says that its matrix is Hermitian: `hemv`, `her2k`.
template <class R>
inline constexpr bool is_hermitian = R::request_name.starts_with("blas.h");
/// The type of those factors that are real in the requests of Hermitian matrices.
template <class T, fixed_string Name>
using factor_of = std::conditional_t<static_text<Name>.starts_with("blas.h"), real_of<T>, T>;

}  // namespace troupe::blas
