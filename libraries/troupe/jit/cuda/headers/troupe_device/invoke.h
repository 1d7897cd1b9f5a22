// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// invoke and its result: for functions, function objects and members.
#pragma once
#include "forward.h"
#include "type_relations.h"

namespace std {

template <class T>
class reference_wrapper;

}  // namespace std

namespace troupe_device {

template <class T>
inline constexpr bool is_wrapped = false;
template <class T>
inline constexpr bool is_wrapped<std::reference_wrapper<T>> = true;

// Returns the object whose member is accessed: passed directly, in a reference_wrapper, or by a pointer.
template <class Class, class Object>
constexpr decltype(auto) object_of(Object&& o) {
  if constexpr (std::is_base_of_v<Class, std::decay_t<Object>>)
    return static_cast<Object&&>(o);
  else if constexpr (is_wrapped<std::decay_t<Object>>)
    return o.get();
  else
    return *static_cast<Object&&>(o);
}

template <class F, class... A>
constexpr auto call(F&& f, A&&... a) noexcept(noexcept(static_cast<F&&>(f)(static_cast<A&&>(a)...)))
    -> decltype(static_cast<F&&>(f)(static_cast<A&&>(a)...)) {
  return static_cast<F&&>(f)(static_cast<A&&>(a)...);
}
template <class T, class Class, class Object, class... A>
constexpr auto call(T Class::* member, Object&& o, A&&... a)
    -> decltype((object_of<Class>(static_cast<Object&&>(o)).*member)(static_cast<A&&>(a)...)) {
  return (object_of<Class>(static_cast<Object&&>(o)).*member)(static_cast<A&&>(a)...);
}
template <class T, class Class, class Object>
constexpr auto call(T Class::* member, Object&& o)
    -> std::enable_if_t<!std::is_function_v<T>, decltype(object_of<Class>(static_cast<Object&&>(o)).*member)> {
  return object_of<Class>(static_cast<Object&&>(o)).*member;
}

template <class, class F, class... A>
struct called {
  static constexpr bool possible = false;
};
template <class F, class... A>
struct called<std::void_t<decltype(call(std::declval<F>(), std::declval<A>()...))>, F, A...> {
  static constexpr bool possible = true;
  using type = decltype(call(std::declval<F>(), std::declval<A>()...));
};
template <class R, bool Possible, class F, class... A>
inline constexpr bool gives = false;
template <class R, class F, class... A>
inline constexpr bool gives<R, true, F, A...> =
    std::is_void_v<R> || __is_convertible_to(typename called<void, F, A...>::type, R);

}  // namespace troupe_device

namespace std {

template <class F, class... A>
inline constexpr bool is_invocable_v = ::troupe_device::called<void, F, A...>::possible;
template <class F, class... A>
struct is_invocable : bool_constant<is_invocable_v<F, A...>> {};
template <class R, class F, class... A>
inline constexpr bool is_invocable_r_v = ::troupe_device::gives<R, is_invocable_v<F, A...>, F, A...>;
template <class R, class F, class... A>
struct is_invocable_r : bool_constant<is_invocable_r_v<R, F, A...>> {};
template <class F, class... A>
inline constexpr bool is_nothrow_invocable_v =
    is_invocable_v<F, A...> && noexcept(::troupe_device::call(declval<F>(), declval<A>()...));
template <class F, class... A>
struct is_nothrow_invocable : bool_constant<is_nothrow_invocable_v<F, A...>> {};

template <class F, class... A>
struct invoke_result : ::troupe_device::called<void, F, A...> {};
template <class F, class... A>
using invoke_result_t = typename invoke_result<F, A...>::type;

template <class F, class... A>
constexpr invoke_result_t<F, A...> invoke(F&& f, A&&... a) {
  return ::troupe_device::call(static_cast<F&&>(f), static_cast<A&&>(a)...);
}

}  // namespace std
