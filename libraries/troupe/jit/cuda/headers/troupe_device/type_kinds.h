// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <type_traits>: type categories and properties.
#pragma once
#include "type_changes.h"

namespace std {

#define TROUPE_TRAIT(name, ...)                \
  template <class T>                           \
  struct name : bool_constant<__VA_ARGS__> {}; \
  template <class T>                           \
  inline constexpr bool name##_v = __VA_ARGS__;

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;
template <class A, class B>
struct is_same : bool_constant<is_same_v<A, B>> {};

}  // namespace std

namespace troupe_device {

template <class T, class... Among>
inline constexpr bool is_any_of = (std::is_same_v<T, Among> || ...);
template <class T>
inline constexpr bool is_pointer = false;
template <class T>
inline constexpr bool is_pointer<T*> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<T[]> = true;
template <class T, size_t N>
inline constexpr bool is_array<T[N]> = true;
template <class T>
inline constexpr bool is_sized_array = false;
template <class T, size_t N>
inline constexpr bool is_sized_array<T[N]> = true;
template <class T>
inline constexpr bool is_left = false;
template <class T>
inline constexpr bool is_left<T&> = true;
template <class T>
inline constexpr bool is_right = false;
template <class T>
inline constexpr bool is_right<T&&> = true;
template <class T>
inline constexpr bool is_const = false;
template <class T>
inline constexpr bool is_const<const T> = true;
template <class T>
inline constexpr bool is_volatile = false;
template <class T>
inline constexpr bool is_volatile<volatile T> = true;
template <class T>
inline constexpr bool is_member = false;
template <class T, class C>
inline constexpr bool is_member<T C::*> = true;
template <class T>
inline constexpr bool is_member_function = false;
template <class T, class C>
inline constexpr bool is_member_function<T C::*> = __is_function(T);

}  // namespace troupe_device

namespace std {

TROUPE_TRAIT(is_void, is_same_v<remove_cv_t<T>, void>)
TROUPE_TRAIT(is_null_pointer, is_same_v<remove_cv_t<T>, nullptr_t>)
TROUPE_TRAIT(is_integral, ::troupe_device::is_any_of<remove_cv_t<T>, bool, char, signed char, unsigned char, short,
                                                     unsigned short, int, unsigned, long, unsigned long, long long,
                                                     unsigned long long, wchar_t, char16_t, char32_t>)
TROUPE_TRAIT(is_floating_point, ::troupe_device::is_any_of<remove_cv_t<T>, float, double, long double>)
TROUPE_TRAIT(is_arithmetic, is_integral_v<T> || is_floating_point_v<T>)
TROUPE_TRAIT(is_array, ::troupe_device::is_array<T>)
TROUPE_TRAIT(is_bounded_array, ::troupe_device::is_sized_array<T>)
TROUPE_TRAIT(is_unbounded_array, ::troupe_device::is_array<T> && !::troupe_device::is_sized_array<T>)
TROUPE_TRAIT(is_pointer, ::troupe_device::is_pointer<remove_cv_t<T>>)
TROUPE_TRAIT(is_lvalue_reference, ::troupe_device::is_left<T>)
TROUPE_TRAIT(is_rvalue_reference, ::troupe_device::is_right<T>)
TROUPE_TRAIT(is_reference, ::troupe_device::is_left<T> || ::troupe_device::is_right<T>)
TROUPE_TRAIT(is_const, ::troupe_device::is_const<T>)
TROUPE_TRAIT(is_volatile, ::troupe_device::is_volatile<T>)
TROUPE_TRAIT(is_member_pointer, ::troupe_device::is_member<remove_cv_t<T>>)
TROUPE_TRAIT(is_member_function_pointer, ::troupe_device::is_member_function<remove_cv_t<T>>)
TROUPE_TRAIT(is_member_object_pointer, is_member_pointer_v<T> && !is_member_function_pointer_v<T>)
TROUPE_TRAIT(is_function, __is_function(T))
TROUPE_TRAIT(is_class, __is_class(T))
TROUPE_TRAIT(is_union, __is_union(T))
TROUPE_TRAIT(is_enum, __is_enum(T))
TROUPE_TRAIT(is_fundamental, is_arithmetic_v<T> || is_void_v<T> || is_null_pointer_v<T>)
TROUPE_TRAIT(is_compound, !is_fundamental_v<T>)
TROUPE_TRAIT(is_object, !__is_function(T) && !is_reference_v<T> && !is_void_v<T>)
TROUPE_TRAIT(is_scalar,
             is_arithmetic_v<T> || __is_enum(T) || is_pointer_v<T> || is_member_pointer_v<T> || is_null_pointer_v<T>)

TROUPE_TRAIT(is_empty, __is_empty(T))
TROUPE_TRAIT(is_polymorphic, __is_polymorphic(T))
TROUPE_TRAIT(is_abstract, __is_abstract(T))
TROUPE_TRAIT(is_final, __is_final(T))
TROUPE_TRAIT(is_aggregate, __is_aggregate(T))
TROUPE_TRAIT(is_pod, __is_pod(T))
TROUPE_TRAIT(is_trivial, __is_trivial(T))
TROUPE_TRAIT(is_standard_layout, __is_standard_layout(T))
TROUPE_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
TROUPE_TRAIT(has_virtual_destructor, __has_virtual_destructor(T))
TROUPE_TRAIT(has_unique_object_representations, __has_unique_object_representations(T))

}  // namespace std

namespace troupe_device {

// The integer type of that size, signed or unsigned.
template <class T>
struct sign_pair {
  using number = typename std::conditional_t<__is_enum(T), std::underlying_type<T>, std::type_identity<T>>::type;
  using with = std::conditional_t<
      sizeof(T) == 1, signed char,
      std::conditional_t<
          sizeof(T) == 2, short,
          std::conditional_t<sizeof(T) == 4, int,
                             std::conditional_t<is_any_of<number, long, unsigned long>, long, long long>>>>;
  using without = std::conditional_t<
      sizeof(T) == 1, unsigned char,
      std::conditional_t<sizeof(T) == 2, unsigned short,
                         std::conditional_t<sizeof(T) == 4, unsigned,
                                            std::conditional_t<is_any_of<number, long, unsigned long>, unsigned long,
                                                               unsigned long long>>>>;
};
// Copies the const and volatile qualifiers of From.
template <class From, class To>
using qualified_as =
    std::conditional_t<is_const<From>, std::conditional_t<is_volatile<From>, const volatile To, const To>,
                       std::conditional_t<is_volatile<From>, volatile To, To>>;

}  // namespace troupe_device

namespace std {

TROUPE_TRAIT(is_signed,
             is_floating_point_v<T> ||
                 ::troupe_device::is_any_of<remove_cv_t<T>, char, signed char, short, int, long, long long, wchar_t>)
TROUPE_TRAIT(is_unsigned, is_arithmetic_v<T> && !is_signed_v<T>)

template <class T>
struct make_signed
    : std::type_identity<::troupe_device::qualified_as<T, typename ::troupe_device::sign_pair<remove_cv_t<T>>::with>> {
};
template <class T>
using make_signed_t = typename make_signed<T>::type;
template <class T>
struct make_unsigned
    : std::type_identity<
          ::troupe_device::qualified_as<T, typename ::troupe_device::sign_pair<remove_cv_t<T>>::without>> {};
template <class T>
using make_unsigned_t = typename make_unsigned<T>::type;

template <class T>
struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T>
inline constexpr size_t alignment_of_v = alignof(T);
template <class T>
struct rank : integral_constant<size_t, 0> {};
template <class T>
struct rank<T[]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, size_t N>
struct rank<T[N]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T>
inline constexpr size_t rank_v = rank<T>::value;
template <class T, unsigned I = 0>
struct extent : integral_constant<size_t, 0> {};
template <class T, unsigned I>
struct extent<T[], I> : integral_constant<size_t, I == 0 ? 0 : extent<T, I - 1>::value> {};
template <class T, size_t N, unsigned I>
struct extent<T[N], I> : integral_constant<size_t, I == 0 ? N : extent<T, I - 1>::value> {};
template <class T, unsigned I = 0>
inline constexpr size_t extent_v = extent<T, I>::value;

template <class T>
struct decay {
  using bare = remove_reference_t<T>;
  using type = conditional_t<is_array_v<bare>, remove_extent_t<bare>*,
                             typename conditional<__is_function(bare), add_pointer<bare>, remove_cv<bare>>::type::type>;
};
template <class T>
using decay_t = typename decay<T>::type;

#undef TROUPE_TRAIT

}  // namespace std
