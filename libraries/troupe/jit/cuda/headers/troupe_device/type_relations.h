// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <type_traits>: relationships and supported operations of types.
#pragma once
#include "type_kinds.h"

namespace std {

#define TROUPE_TRAIT(name, ...)                \
  template <class T>                           \
  struct name : bool_constant<__VA_ARGS__> {}; \
  template <class T>                           \
  inline constexpr bool name##_v = __VA_ARGS__;
TROUPE_TRAIT(is_destructible, __is_destructible(T))
TROUPE_TRAIT(is_nothrow_destructible, __is_nothrow_destructible(T))
TROUPE_TRAIT(is_trivially_destructible, __is_trivially_destructible(T))
TROUPE_TRAIT(is_default_constructible, __is_constructible(T))
TROUPE_TRAIT(is_copy_constructible, __is_constructible(T, add_lvalue_reference_t<const T>))
TROUPE_TRAIT(is_move_constructible, __is_constructible(T, add_rvalue_reference_t<T>))
TROUPE_TRAIT(is_copy_assignable, __is_assignable(add_lvalue_reference_t<T>, add_lvalue_reference_t<const T>))
TROUPE_TRAIT(is_move_assignable, __is_assignable(add_lvalue_reference_t<T>, add_rvalue_reference_t<T>))
TROUPE_TRAIT(is_trivially_default_constructible, __is_trivially_constructible(T))
TROUPE_TRAIT(is_trivially_copy_constructible, __is_trivially_constructible(T, add_lvalue_reference_t<const T>))
TROUPE_TRAIT(is_trivially_move_constructible, __is_trivially_constructible(T, add_rvalue_reference_t<T>))
TROUPE_TRAIT(is_trivially_copy_assignable,
             __is_trivially_assignable(add_lvalue_reference_t<T>, add_lvalue_reference_t<const T>))
TROUPE_TRAIT(is_trivially_move_assignable,
             __is_trivially_assignable(add_lvalue_reference_t<T>, add_rvalue_reference_t<T>))
TROUPE_TRAIT(is_nothrow_default_constructible, __is_nothrow_constructible(T))
TROUPE_TRAIT(is_nothrow_copy_constructible, __is_nothrow_constructible(T, add_lvalue_reference_t<const T>))
TROUPE_TRAIT(is_nothrow_move_constructible, __is_nothrow_constructible(T, add_rvalue_reference_t<T>))
TROUPE_TRAIT(is_nothrow_copy_assignable,
             __is_nothrow_assignable(add_lvalue_reference_t<T>, add_lvalue_reference_t<const T>))
TROUPE_TRAIT(is_nothrow_move_assignable, __is_nothrow_assignable(add_lvalue_reference_t<T>, add_rvalue_reference_t<T>))
#undef TROUPE_TRAIT

#define TROUPE_TRAIT(name, ...)                \
  template <class A, class B>                  \
  struct name : bool_constant<__VA_ARGS__> {}; \
  template <class A, class B>                  \
  inline constexpr bool name##_v = __VA_ARGS__;
TROUPE_TRAIT(is_base_of, __is_base_of(A, B))
TROUPE_TRAIT(is_convertible, (is_void_v<A> && is_void_v<B>) || __is_convertible_to(A, B))
TROUPE_TRAIT(is_assignable, __is_assignable(A, B))
TROUPE_TRAIT(is_trivially_assignable, __is_trivially_assignable(A, B))
TROUPE_TRAIT(is_nothrow_assignable, __is_nothrow_assignable(A, B))
#undef TROUPE_TRAIT

#define TROUPE_TRAIT(name, ...)                \
  template <class T, class... From>            \
  struct name : bool_constant<__VA_ARGS__> {}; \
  template <class T, class... From>            \
  inline constexpr bool name##_v = __VA_ARGS__;
TROUPE_TRAIT(is_constructible, __is_constructible(T, From...))
TROUPE_TRAIT(is_trivially_constructible, __is_trivially_constructible(T, From...))
TROUPE_TRAIT(is_nothrow_constructible, __is_nothrow_constructible(T, From...))
#undef TROUPE_TRAIT

template <class... Conditions>
struct conjunction : true_type {};
template <class Only>
struct conjunction<Only> : Only {};
template <class First, class... Others>
struct conjunction<First, Others...> : conditional_t<bool(First::value), conjunction<Others...>, First> {};
template <class... Conditions>
inline constexpr bool conjunction_v = conjunction<Conditions...>::value;
template <class... Conditions>
struct disjunction : false_type {};
template <class Only>
struct disjunction<Only> : Only {};
template <class First, class... Others>
struct disjunction<First, Others...> : conditional_t<bool(First::value), First, disjunction<Others...>> {};
template <class... Conditions>
inline constexpr bool disjunction_v = disjunction<Conditions...>::value;
template <class Condition>
struct negation : bool_constant<!bool(Condition::value)> {};
template <class Condition>
inline constexpr bool negation_v = !bool(Condition::value);

}  // namespace std

namespace troupe_device {

template <class A, class B, class = void>
struct common_of_two {};
template <class A, class B>
struct common_of_two<A, B, std::void_t<decltype(false ? std::declval<A>() : std::declval<B>())>> {
  using type = std::decay_t<decltype(false ? std::declval<A>() : std::declval<B>())>;
};
template <class Nothing, class... T>
struct common_of_all {};

}  // namespace troupe_device

namespace std {

template <class... T>
struct common_type {};
template <class T>
struct common_type<T> : common_type<T, T> {};
template <class A, class B>
struct common_type<A, B> : conditional_t<is_same_v<A, decay_t<A>> && is_same_v<B, decay_t<B>>,
                                         ::troupe_device::common_of_two<A, B>, common_type<decay_t<A>, decay_t<B>>> {};
template <class A, class B, class C, class... More>
struct common_type<A, B, C, More...> : ::troupe_device::common_of_all<void, A, B, C, More...> {};
template <class... T>
using common_type_t = typename common_type<T...>::type;

}  // namespace std

namespace troupe_device {

template <class A, class B, class... More>
struct common_of_all<std::void_t<std::common_type_t<A, B>>, A, B, More...>
    : std::common_type<std::common_type_t<A, B>, More...> {};

}  // namespace troupe_device

namespace std {

// The default is the strictest alignment of a GPU's loads.
template <size_t Bytes, size_t Alignment = 16>
struct aligned_storage {
  struct type {
    alignas(Alignment) unsigned char bytes[Bytes];
  };
};
template <size_t Bytes, size_t Alignment = 16>
using aligned_storage_t = typename aligned_storage<Bytes, Alignment>::type;

}  // namespace std
