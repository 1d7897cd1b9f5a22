// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The overloads of <math.h> that C++ has for other types: integers count as double. NVRTC has only float and double.
// Templates, so that functions of the source with the same names take precedence.
#pragma once

extern "C++" {  // the #include may be inside extern "C"

namespace troupe_device {

enum { no_number, whole, single, real };  // classifies a type
constexpr int kind_of(const volatile void*) { return no_number; }
constexpr int kind_of(bool*) { return whole; }
constexpr int kind_of(char*) { return whole; }
constexpr int kind_of(signed char*) { return whole; }
constexpr int kind_of(unsigned char*) { return whole; }
constexpr int kind_of(short*) { return whole; }
constexpr int kind_of(unsigned short*) { return whole; }
constexpr int kind_of(int*) { return whole; }
constexpr int kind_of(unsigned*) { return whole; }
constexpr int kind_of(long*) { return whole; }
constexpr int kind_of(unsigned long*) { return whole; }
constexpr int kind_of(long long*) { return whole; }
constexpr int kind_of(unsigned long long*) { return whole; }
constexpr int kind_of(float*) { return single; }
constexpr int kind_of(double*) { return real; }
template <class T>
constexpr int kind() {
  return kind_of(static_cast<T*>(nullptr));
}

template <bool Yes, class T>
struct only_if {};
template <class T>
struct only_if<true, T> {
  using type = T;
};
template <class T, class Result = double>
using for_whole = typename only_if<kind<T>() == whole, Result>::type;
template <class T, class Result = double>
using for_number = typename only_if<kind<T>() != no_number, Result>::type;
template <class A, class B, class Result = double>
using for_numbers = typename only_if<kind<A>() != no_number && kind<B>() != no_number, Result>::type;
// Not for two arguments of the same type, unless they are integers.
template <class A, class B, class Result = double>
using for_mixed = typename only_if<kind<A>() != kind<B>() || kind<A>() == whole, for_numbers<A, B, Result>>::type;
template <class A, class B, class C>
using for_mixed_three = typename only_if<kind<A>() != kind<B>() || kind<A>() != kind<C>() || kind<A>() == whole,
                                         for_numbers<A, B, for_number<C>>>::type;

}  // namespace troupe_device

#define TROUPE_FUNCTION(name)                         \
  template <class T>                                  \
  constexpr ::troupe_device::for_whole<T> name(T x) { \
    return name(static_cast<double>(x));              \
  }
TROUPE_FUNCTION(acos)
TROUPE_FUNCTION(acosh)
TROUPE_FUNCTION(asin)
TROUPE_FUNCTION(asinh)
TROUPE_FUNCTION(atan)
TROUPE_FUNCTION(atanh)
TROUPE_FUNCTION(cbrt)
TROUPE_FUNCTION(ceil)
TROUPE_FUNCTION(cos)
TROUPE_FUNCTION(cosh)
TROUPE_FUNCTION(erf)
TROUPE_FUNCTION(erfc)
TROUPE_FUNCTION(exp)
TROUPE_FUNCTION(exp2)
TROUPE_FUNCTION(expm1)
TROUPE_FUNCTION(fabs)
TROUPE_FUNCTION(floor)
TROUPE_FUNCTION(lgamma)
TROUPE_FUNCTION(log)
TROUPE_FUNCTION(log10)
TROUPE_FUNCTION(log1p)
TROUPE_FUNCTION(log2)
TROUPE_FUNCTION(logb)
TROUPE_FUNCTION(nearbyint)
TROUPE_FUNCTION(rint)
TROUPE_FUNCTION(round)
TROUPE_FUNCTION(rsqrt)
TROUPE_FUNCTION(sin)
TROUPE_FUNCTION(sinh)
TROUPE_FUNCTION(sqrt)
TROUPE_FUNCTION(tan)
TROUPE_FUNCTION(tanh)
TROUPE_FUNCTION(tgamma)
TROUPE_FUNCTION(trunc)
#undef TROUPE_FUNCTION

#define TROUPE_FUNCTION(name)                                    \
  template <class A, class B>                                    \
  constexpr ::troupe_device::for_mixed<A, B> name(A a, B b) {    \
    return name(static_cast<double>(a), static_cast<double>(b)); \
  }
TROUPE_FUNCTION(atan2)
TROUPE_FUNCTION(copysign)
TROUPE_FUNCTION(fdim)
TROUPE_FUNCTION(fmax)
TROUPE_FUNCTION(fmin)
TROUPE_FUNCTION(fmod)
TROUPE_FUNCTION(hypot)
TROUPE_FUNCTION(nextafter)
TROUPE_FUNCTION(pow)
TROUPE_FUNCTION(remainder)
#undef TROUPE_FUNCTION

#define TROUPE_FUNCTION(result, name)                         \
  template <class T>                                          \
  constexpr ::troupe_device::for_whole<T, result> name(T x) { \
    return name(static_cast<double>(x));                      \
  }
TROUPE_FUNCTION(int, ilogb)
TROUPE_FUNCTION(long, lrint)
TROUPE_FUNCTION(long, lround)
TROUPE_FUNCTION(long long, llrint)
TROUPE_FUNCTION(long long, llround)
#undef TROUPE_FUNCTION

template <class T>
constexpr ::troupe_device::for_whole<T> frexp(T x, int* exponent) {
  return frexp(static_cast<double>(x), exponent);
}
template <class T>
constexpr ::troupe_device::for_whole<T> ldexp(T x, int exponent) {
  return ldexp(static_cast<double>(x), exponent);
}
template <class T>
constexpr ::troupe_device::for_whole<T> scalbn(T x, int exponent) {
  return scalbn(static_cast<double>(x), exponent);
}
template <class T>
constexpr ::troupe_device::for_whole<T> scalbln(T x, long exponent) {
  return scalbln(static_cast<double>(x), exponent);
}
template <class A, class B, class C>
constexpr ::troupe_device::for_mixed_three<A, B, C> fma(A a, B b, C c) {
  return fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
}

// NVRTC has these for two numbers of the same type, or of the same size and different signedness.
#define TROUPE_FUNCTION(small, large)                             \
  template <class Anything = void>                                \
  constexpr large min(small a, large b) {                         \
    return static_cast<large>(a) < b ? static_cast<large>(a) : b; \
  }                                                               \
  template <class Anything = void>                                \
  constexpr large min(large a, small b) {                         \
    return static_cast<large>(b) < a ? static_cast<large>(b) : a; \
  }                                                               \
  template <class Anything = void>                                \
  constexpr large max(small a, large b) {                         \
    return static_cast<large>(a) < b ? b : static_cast<large>(a); \
  }                                                               \
  template <class Anything = void>                                \
  constexpr large max(large a, small b) {                         \
    return static_cast<large>(b) < a ? a : static_cast<large>(b); \
  }
TROUPE_FUNCTION(int, long)
TROUPE_FUNCTION(int, long long)
TROUPE_FUNCTION(int, unsigned long)
TROUPE_FUNCTION(unsigned, unsigned long)
#undef TROUPE_FUNCTION

}  // extern "C++"
