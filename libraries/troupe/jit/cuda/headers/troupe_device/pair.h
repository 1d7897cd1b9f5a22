// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// pair, integer sequences, and the protocol for structured bindings.
#pragma once
#include "forward.h"
#include "ordering.h"

namespace std {

template <class T, T... I>
struct integer_sequence {
  using value_type = T;
  static constexpr size_t size() noexcept { return sizeof...(I); }
};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;

}  // namespace std

namespace troupe_device {

// Halves the sequence, so that long sequences need no deep recursion.
template <class T, class Left, class Right>
struct joined;
template <class T, T... L, T... R>
struct joined<T, std::integer_sequence<T, L...>, std::integer_sequence<T, R...>>
    : std::type_identity<std::integer_sequence<T, L..., (T(sizeof...(L)) + R)...>> {};
template <class T, size_t N>
struct counted : joined<T, typename counted<T, N / 2>::type, typename counted<T, N - N / 2>::type> {};
template <class T>
struct counted<T, 0> : std::type_identity<std::integer_sequence<T>> {};
template <class T>
struct counted<T, 1> : std::type_identity<std::integer_sequence<T, T(0)>> {};

}  // namespace troupe_device

namespace std {

template <class T, T N>
using make_integer_sequence = typename ::troupe_device::counted<T, static_cast<size_t>(N)>::type;
template <size_t N>
using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T>
using index_sequence_for = make_index_sequence<sizeof...(T)>;

// Declared exactly as in libcu++, which may be included too.
template <class... T>
struct tuple_size;
template <size_t I, class... T>
struct tuple_element;
template <class T>
struct tuple_size<const T> : integral_constant<size_t, tuple_size<T>::value> {};
template <size_t I, class T>
struct tuple_element<I, const T> : std::type_identity<const typename tuple_element<I, T>::type> {};
template <class T>
inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t I, class T>
using tuple_element_t = typename tuple_element<I, T>::type;

struct in_place_t {
  explicit in_place_t() = default;
};
inline constexpr in_place_t in_place{};
struct piecewise_construct_t {
  explicit piecewise_construct_t() = default;
};
inline constexpr piecewise_construct_t piecewise_construct{};

template <class A, class B>
struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;

  constexpr pair() : first(), second() {}
  constexpr pair(const pair&) = default;
  constexpr pair(pair&&) = default;
  constexpr pair& operator=(const pair&) = default;
  constexpr pair& operator=(pair&&) = default;
  constexpr pair(const A& a, const B& b) : first(a), second(b) {}
  template <class U = A, class V = B, class = enable_if_t<is_constructible_v<A, U&&> && is_constructible_v<B, V&&>>>
  constexpr pair(U&& a, V&& b) : first(static_cast<U&&>(a)), second(static_cast<V&&>(b)) {}
  template <class U, class V, class = enable_if_t<is_constructible_v<A, const U&> && is_constructible_v<B, const V&>>>
  constexpr pair(const pair<U, V>& p) : first(p.first), second(p.second) {}
  template <class U, class V, class = enable_if_t<is_constructible_v<A, U&&> && is_constructible_v<B, V&&>>>
  constexpr pair(pair<U, V>&& p) : first(static_cast<U&&>(p.first)), second(static_cast<V&&>(p.second)) {}
  template <class U, class V, class = enable_if_t<is_assignable_v<A&, const U&> && is_assignable_v<B&, const V&>>>
  constexpr pair& operator=(const pair<U, V>& p) {
    first = p.first;
    second = p.second;
    return *this;
  }
  constexpr void swap(pair& other) {
    ::troupe_device::lookup::exchange_with(first, other.first);
    ::troupe_device::lookup::exchange_with(second, other.second);
  }
};
template <class A, class B>
pair(A, B) -> pair<A, B>;

template <class A, class B, class C, class D>
constexpr bool operator==(const pair<A, B>& x, const pair<C, D>& y) {
  return x.first == y.first && x.second == y.second;
}
#if __cplusplus >= 202002L
template <class A, class B, class C, class D>
constexpr auto operator<=>(const pair<A, B>& x, const pair<C, D>& y) {
  using both = common_comparison_category_t<decltype(::troupe_device::order(x.first, y.first)),
                                            decltype(::troupe_device::order(x.second, y.second))>;
  if (const both first = ::troupe_device::order(x.first, y.first); first != 0) return first;
  return both(::troupe_device::order(x.second, y.second));
}
#else
template <class A, class B>
constexpr bool operator!=(const pair<A, B>& x, const pair<A, B>& y) {
  return !(x == y);
}
template <class A, class B>
constexpr bool operator<(const pair<A, B>& x, const pair<A, B>& y) {
  return x.first < y.first || (!(y.first < x.first) && x.second < y.second);
}
template <class A, class B>
constexpr bool operator>(const pair<A, B>& x, const pair<A, B>& y) {
  return y < x;
}
template <class A, class B>
constexpr bool operator<=(const pair<A, B>& x, const pair<A, B>& y) {
  return !(y < x);
}
template <class A, class B>
constexpr bool operator>=(const pair<A, B>& x, const pair<A, B>& y) {
  return !(x < y);
}
#endif
template <class A, class B>
constexpr void swap(pair<A, B>& x, pair<A, B>& y) {
  x.swap(y);
}
template <class A, class B>
constexpr pair<decay_t<A>, decay_t<B>> make_pair(A&& a, B&& b) {
  return {static_cast<A&&>(a), static_cast<B&&>(b)};
}

template <class A, class B>
struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <size_t I, class A, class B>
struct tuple_element<I, pair<A, B>> {
  static_assert(I < 2, "a pair has the elements 0 and 1");
  using type = conditional_t<I == 0, A, B>;
};
template <size_t I, class A, class B>
constexpr tuple_element_t<I, pair<A, B>>& get(pair<A, B>& p) noexcept {
  if constexpr (I == 0)
    return p.first;
  else
    return p.second;
}
template <size_t I, class A, class B>
constexpr const tuple_element_t<I, pair<A, B>>& get(const pair<A, B>& p) noexcept {
  if constexpr (I == 0)
    return p.first;
  else
    return p.second;
}
template <size_t I, class A, class B>
constexpr tuple_element_t<I, pair<A, B>>&& get(pair<A, B>&& p) noexcept {
  return static_cast<tuple_element_t<I, pair<A, B>>&&>(get<I>(p));
}

}  // namespace std
