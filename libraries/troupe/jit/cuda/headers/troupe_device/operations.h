// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// <functional>: function objects for operators, and hash.
#pragma once
#include "type_relations.h"

namespace std {

#define TROUPE_OPERATION(name, ...)                                                 \
  template <class T = void>                                                         \
  struct name {                                                                     \
    constexpr auto operator()(const T& a, const T& b) const { return __VA_ARGS__; } \
  };                                                                                \
  template <>                                                                       \
  struct name<void> {                                                               \
    template <class A, class B>                                                     \
    constexpr auto operator()(const A& a, const B& b) const {                       \
      return __VA_ARGS__;                                                           \
    }                                                                               \
    using is_transparent = void;                                                    \
  };
TROUPE_OPERATION(plus, a + b)
TROUPE_OPERATION(minus, a - b)
TROUPE_OPERATION(multiplies, a* b)
TROUPE_OPERATION(divides, a / b)
TROUPE_OPERATION(modulus, a % b)
TROUPE_OPERATION(equal_to, a == b)
TROUPE_OPERATION(not_equal_to, a != b)
TROUPE_OPERATION(greater, a > b)
TROUPE_OPERATION(less, a < b)
TROUPE_OPERATION(greater_equal, a >= b)
TROUPE_OPERATION(less_equal, a <= b)
TROUPE_OPERATION(logical_and, a&& b)
TROUPE_OPERATION(logical_or, a || b)
TROUPE_OPERATION(bit_and, a& b)
TROUPE_OPERATION(bit_or, a | b)
TROUPE_OPERATION(bit_xor, a ^ b)
#undef TROUPE_OPERATION

#define TROUPE_OPERATION(name, ...)                                     \
  template <class T = void>                                             \
  struct name {                                                         \
    constexpr auto operator()(const T& a) const { return __VA_ARGS__; } \
  };                                                                    \
  template <>                                                           \
  struct name<void> {                                                   \
    template <class A>                                                  \
    constexpr auto operator()(const A& a) const {                       \
      return __VA_ARGS__;                                               \
    }                                                                   \
    using is_transparent = void;                                        \
  };
TROUPE_OPERATION(negate, -a)
TROUPE_OPERATION(logical_not, !a)
TROUPE_OPERATION(bit_not, ~a)
#undef TROUPE_OPERATION

struct identity {
  template <class T>
  constexpr T&& operator()(T&& x) const noexcept {
    return static_cast<T&&>(x);
  }
  using is_transparent = void;
};

}  // namespace std
