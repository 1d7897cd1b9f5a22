// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The types that <=> returns, from C++20 on.
#pragma once
#include "type_relations.h"

#if __cplusplus >= 202002L

namespace troupe_device {

struct zero {
  consteval zero(int value) {
    if (value != 0) __assertfail("the result of <=> is compared with 0 alone", __FILE__, __LINE__, "", sizeof(char));
  }
};

}  // namespace troupe_device

namespace std {

#define TROUPE_COMPARISONS(type)                                                                                      \
  friend constexpr bool operator==(type a, ::troupe_device::zero) noexcept { return a.value_ == 0; }                  \
  friend constexpr bool operator==(type a, type b) noexcept = default;                                                \
  friend constexpr bool operator<(type a, ::troupe_device::zero) noexcept { return a.value_ == -1; }                  \
  friend constexpr bool operator>(type a, ::troupe_device::zero) noexcept { return a.value_ == 1; }                   \
  friend constexpr bool operator<=(type a, ::troupe_device::zero) noexcept { return a.value_ <= 0; }                  \
  friend constexpr bool operator>=(type a, ::troupe_device::zero) noexcept { return a.value_ == 0 || a.value_ == 1; } \
  friend constexpr bool operator<(::troupe_device::zero, type a) noexcept { return a.value_ == 1; }                   \
  friend constexpr bool operator>(::troupe_device::zero, type a) noexcept { return a.value_ == -1; }                  \
  friend constexpr bool operator<=(::troupe_device::zero, type a) noexcept { return a >= 0; }                         \
  friend constexpr bool operator>=(::troupe_device::zero, type a) noexcept { return a <= 0; }                         \
  friend constexpr type operator<=>(type a, ::troupe_device::zero) noexcept { return a; }                             \
  signed char value_;

class partial_ordering {
 public:
  constexpr explicit partial_ordering(signed char value) noexcept : value_(value) {}
  static const partial_ordering less, equivalent, greater, unordered;
  TROUPE_COMPARISONS(partial_ordering)
};
inline constexpr partial_ordering partial_ordering::less(-1), partial_ordering::equivalent(0),
    partial_ordering::greater(1), partial_ordering::unordered(2);

class weak_ordering {
 public:
  constexpr explicit weak_ordering(signed char value) noexcept : value_(value) {}
  static const weak_ordering less, equivalent, greater;
  constexpr operator partial_ordering() const noexcept { return partial_ordering(value_); }
  TROUPE_COMPARISONS(weak_ordering)
};
inline constexpr weak_ordering weak_ordering::less(-1), weak_ordering::equivalent(0), weak_ordering::greater(1);

class strong_ordering {
 public:
  constexpr explicit strong_ordering(signed char value) noexcept : value_(value) {}
  static const strong_ordering less, equal, equivalent, greater;
  constexpr operator partial_ordering() const noexcept { return partial_ordering(value_); }
  constexpr operator weak_ordering() const noexcept { return weak_ordering(value_); }
  TROUPE_COMPARISONS(strong_ordering)
};
inline constexpr strong_ordering strong_ordering::less(-1), strong_ordering::equal(0), strong_ordering::equivalent(0),
    strong_ordering::greater(1);
#undef TROUPE_COMPARISONS

constexpr bool is_eq(partial_ordering c) noexcept { return c == 0; }
constexpr bool is_neq(partial_ordering c) noexcept { return c != 0; }
constexpr bool is_lt(partial_ordering c) noexcept { return c < 0; }
constexpr bool is_lteq(partial_ordering c) noexcept { return c <= 0; }
constexpr bool is_gt(partial_ordering c) noexcept { return c > 0; }
constexpr bool is_gteq(partial_ordering c) noexcept { return c >= 0; }

}  // namespace std

namespace troupe_device {

constexpr int strength(const void*) { return 0; }
constexpr int strength(std::partial_ordering*) { return 1; }
constexpr int strength(std::weak_ordering*) { return 2; }
constexpr int strength(std::strong_ordering*) { return 3; }
constexpr int least(int a) { return a; }
template <class... More>
constexpr int least(int a, int b, More... more) {
  return least(a < b ? a : b, more...);
}
template <int>
struct ordering_of : std::type_identity<void> {};
template <>
struct ordering_of<1> : std::type_identity<std::partial_ordering> {};
template <>
struct ordering_of<2> : std::type_identity<std::weak_ordering> {};
template <>
struct ordering_of<3> : std::type_identity<std::strong_ordering> {};

template <class A, class B>
concept has_order = requires(const A& a, const B& b) {
  a <=> b;
};
// Compares by <=>, or by < if there is no <=>.
template <class A, class B>
constexpr auto order(const A& a, const B& b) {
  if constexpr (has_order<A, B>)
    return a <=> b;
  else
    return a < b ? std::weak_ordering::less : b < a ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

}  // namespace troupe_device

namespace std {

template <class... T>
struct common_comparison_category {
  using type = typename ::troupe_device::ordering_of<::troupe_device::least(
      3, ::troupe_device::strength(static_cast<T*>(nullptr))...)>::type;
};
template <class... T>
using common_comparison_category_t = typename common_comparison_category<T...>::type;
template <class A, class B = A>
using compare_three_way_result_t = decltype(declval<const A&>() <=> declval<const B&>());
template <class A, class B = A>
struct compare_three_way_result : std::type_identity<compare_three_way_result_t<A, B>> {};
struct compare_three_way {
  template <class A, class B>
  constexpr auto operator()(A&& a, B&& b) const {
    return static_cast<A&&>(a) <=> static_cast<B&&>(b);
  }
  using is_transparent = void;
};

}  // namespace std
#endif
