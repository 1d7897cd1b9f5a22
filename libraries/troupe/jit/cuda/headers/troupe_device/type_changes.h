// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <type_traits>: type transformations.
#pragma once
#include "../stddef.h"

namespace std {

using ::nullptr_t;
using ::ptrdiff_t;
using ::size_t;

template <class T, T Value>
struct integral_constant {
  static constexpr T value = Value;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const noexcept { return Value; }
  constexpr T operator()() const noexcept { return Value; }
};
template <bool Value>
using bool_constant = integral_constant<bool, Value>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T>
struct type_identity {
  using type = T;
};
template <class...>
using void_t = void;
template <bool Condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> : type_identity<T> {};
template <bool Condition, class Then, class Else>
struct conditional : type_identity<Then> {};
template <class Then, class Else>
struct conditional<false, Then, Else> : type_identity<Else> {};

template <class T>
struct remove_const : type_identity<T> {};
template <class T>
struct remove_const<const T> : type_identity<T> {};
template <class T>
struct remove_volatile : type_identity<T> {};
template <class T>
struct remove_volatile<volatile T> : type_identity<T> {};
template <class T>
struct remove_cv : remove_const<typename remove_volatile<T>::type> {};
template <class T>
struct remove_reference : type_identity<T> {};
template <class T>
struct remove_reference<T&> : type_identity<T> {};
template <class T>
struct remove_reference<T&&> : type_identity<T> {};
template <class T>
struct remove_cvref : remove_cv<typename remove_reference<T>::type> {};
template <class T>
struct remove_pointer : type_identity<T> {};
template <class T>
struct remove_pointer<T*> : type_identity<T> {};
template <class T>
struct remove_pointer<T* const> : type_identity<T> {};
template <class T>
struct remove_pointer<T* volatile> : type_identity<T> {};
template <class T>
struct remove_pointer<T* const volatile> : type_identity<T> {};
template <class T>
struct remove_extent : type_identity<T> {};
template <class T>
struct remove_extent<T[]> : type_identity<T> {};
template <class T, size_t N>
struct remove_extent<T[N]> : type_identity<T> {};
template <class T>
struct remove_all_extents : type_identity<T> {};
template <class T>
struct remove_all_extents<T[]> : remove_all_extents<T> {};
template <class T, size_t N>
struct remove_all_extents<T[N]> : remove_all_extents<T> {};

template <class T>
struct add_const : type_identity<const T> {};
template <class T>
struct add_volatile : type_identity<volatile T> {};
template <class T>
struct add_cv : type_identity<const volatile T> {};
template <class T, class = void>
struct add_lvalue_reference : type_identity<T> {};
template <class T>
struct add_lvalue_reference<T, void_t<T&>> : type_identity<T&> {};
template <class T, class = void>
struct add_rvalue_reference : type_identity<T> {};
template <class T>
struct add_rvalue_reference<T, void_t<T&&>> : type_identity<T&&> {};
template <class T, class = void>
struct add_pointer : type_identity<T> {};
template <class T>
struct add_pointer<T, void_t<typename remove_reference<T>::type*>>
    : type_identity<typename remove_reference<T>::type*> {};

template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;
template <bool Condition, class Then, class Else>
using conditional_t = typename conditional<Condition, Then, Else>::type;
template <class T>
using type_identity_t = typename type_identity<T>::type;
template <class T>
using remove_const_t = typename remove_const<T>::type;
template <class T>
using remove_volatile_t = typename remove_volatile<T>::type;
template <class T>
using remove_cv_t = typename remove_cv<T>::type;
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = typename remove_cvref<T>::type;
template <class T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <class T>
using remove_extent_t = typename remove_extent<T>::type;
template <class T>
using remove_all_extents_t = typename remove_all_extents<T>::type;
template <class T>
using add_const_t = typename add_const<T>::type;
template <class T>
using add_volatile_t = typename add_volatile<T>::type;
template <class T>
using add_cv_t = typename add_cv<T>::type;
template <class T>
using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T>
using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <class T>
using add_pointer_t = typename add_pointer<T>::type;

template <class T>
add_rvalue_reference_t<T> declval() noexcept;

template <class T>
struct underlying_type : type_identity<__underlying_type(T)> {};
template <class T>
using underlying_type_t = typename underlying_type<T>::type;

constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

}  // namespace std
