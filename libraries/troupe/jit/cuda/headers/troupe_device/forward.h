// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// move, forward, swap and related functions.
#pragma once
#include "type_relations.h"

namespace std {

#ifndef __NV_BUILTIN_MOVE_FORWARD
template <class T>
constexpr T&& forward(remove_reference_t<T>& x) noexcept {
  return static_cast<T&&>(x);
}
template <class T>
constexpr T&& forward(remove_reference_t<T>&& x) noexcept {
  return static_cast<T&&>(x);
}
template <class T>
constexpr remove_reference_t<T>&& move(T&& x) noexcept {
  return static_cast<remove_reference_t<T>&&>(x);
}
#endif
template <class T>
constexpr conditional_t<!is_nothrow_move_constructible_v<T> && is_copy_constructible_v<T>, const T&, T&&>
move_if_noexcept(T& x) noexcept {
  return static_cast<T&&>(x);
}
template <class T>
constexpr add_const_t<T>& as_const(T& x) noexcept {
  return x;
}
template <class T>
void as_const(const T&&) = delete;

template <class T>
constexpr T* addressof(T& x) noexcept {
  return __builtin_addressof(x);
}
template <class T>
const T* addressof(const T&&) = delete;

template <class T, class U = T>
constexpr T exchange(T& x, U&& with) {
  T old = static_cast<T&&>(x);
  x = static_cast<U&&>(with);
  return old;
}

template <class T>
constexpr enable_if_t<is_move_constructible_v<T> && is_move_assignable_v<T>> swap(T& a, T& b) noexcept(
    is_nothrow_move_constructible_v<T> && is_nothrow_move_assignable_v<T>) {
  T old = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(old);
}
template <class T, size_t N>
constexpr void swap(T (&a)[N], T (&b)[N]) {
  for (size_t i = 0; i < N; ++i) swap(a[i], b[i]);
}

}  // namespace std

namespace troupe_device {

namespace lookup {
using std::swap;
template <class A, class B, class = void>
inline constexpr bool can_swap = false;
template <class A, class B>
inline constexpr bool can_swap<A, B, std::void_t<decltype(swap(std::declval<A>(), std::declval<B>()))>> = true;
template <class T>
constexpr void exchange_with(T& a, T& b) {
  swap(a, b);
}
}  // namespace lookup

}  // namespace troupe_device

namespace std {

template <class A, class B>
inline constexpr bool is_swappable_with_v =
    ::troupe_device::lookup::can_swap<A, B> && ::troupe_device::lookup::can_swap<B, A>;
template <class A, class B>
struct is_swappable_with : bool_constant<is_swappable_with_v<A, B>> {};
template <class T>
inline constexpr bool is_swappable_v =
    ::troupe_device::lookup::can_swap<add_lvalue_reference_t<T>, add_lvalue_reference_t<T>>;
template <class T>
struct is_swappable : bool_constant<is_swappable_v<T>> {};

}  // namespace std
