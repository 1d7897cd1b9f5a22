// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic that rounds down (rd), up (ru) or towards zero (rz), by setting the processor's rounding mode for one
// operation.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

struct rounds_down;
struct rounds_up;
struct rounds_to_zero;

#if defined(__x86_64__)
using rounding_word = unsigned;
template <class Direction>
inline constexpr rounding_word rounding_bits = 0x6000;
template <>
inline constexpr rounding_word rounding_bits<rounds_down> = 0x2000;
template <>
inline constexpr rounding_word rounding_bits<rounds_up> = 0x4000;
TROUPE_INLINE rounding_word read_rounding() { return __builtin_ia32_stmxcsr(); }
TROUPE_INLINE void write_rounding(rounding_word w) { __builtin_ia32_ldmxcsr(w); }
#define TROUPE_IN_REGISTER(x) asm volatile("" : "+x"(x))
#else
using rounding_word = uint64_t;
template <class Direction>
inline constexpr rounding_word rounding_bits = uint64_t{3} << 22;
template <>
inline constexpr rounding_word rounding_bits<rounds_down> = uint64_t{2} << 22;
template <>
inline constexpr rounding_word rounding_bits<rounds_up> = uint64_t{1} << 22;
TROUPE_INLINE rounding_word read_rounding() {
  rounding_word w;
  asm volatile("mrs %0, fpcr" : "=r"(w));
  return w;
}
TROUPE_INLINE void write_rounding(rounding_word w) { asm volatile("msr fpcr, %0" ::"r"(w)); }
#define TROUPE_IN_REGISTER(x) asm volatile("" : "+w"(x))
#endif

template <class T>
TROUPE_INLINE void hide(T& x) {
  if constexpr (same<T, float> || same<T, double>)
    TROUPE_IN_REGISTER(x);
  else
    asm volatile("" : "+r"(x));
}
#undef TROUPE_IN_REGISTER

// Returns f(x...). The empty statements keep the operation between the two changes of the rounding mode.
template <class Direction, class F, class... T>
TROUPE_INLINE auto rounded(F f, T... x) {
  const rounding_word before = read_rounding();
  write_rounding((before & ~rounding_bits<rounds_to_zero>) | rounding_bits<Direction>);
  (hide(x), ...);
  auto result = f(x...);
  hide(result);
  write_rounding(before);
  return result;
}

}  // namespace troupe_cuda

#define TROUPE_DIRECTED(T, suffix, direction, add, subtract, multiply, divide, reciprocal, root, multiply_add,       \
                        sqrt_of, fma_of)                                                                             \
  TROUPE_INLINE T add##suffix(T x, T y) {                                                                            \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a, T b) { return a + b; }, x, y);                   \
  }                                                                                                                  \
  TROUPE_INLINE T subtract##suffix(T x, T y) {                                                                       \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a, T b) { return a - b; }, x, y);                   \
  }                                                                                                                  \
  TROUPE_INLINE T multiply##suffix(T x, T y) {                                                                       \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a, T b) { return a * b; }, x, y);                   \
  }                                                                                                                  \
  TROUPE_INLINE T divide##suffix(T x, T y) {                                                                         \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a, T b) { return a / b; }, x, y);                   \
  }                                                                                                                  \
  TROUPE_INLINE T reciprocal##suffix(T x) {                                                                          \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a, T b) { return a / b; }, T(1), x);                \
  }                                                                                                                  \
  TROUPE_INLINE T root##suffix(T x) {                                                                                \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a) { return sqrt_of(a); }, x);                      \
  }                                                                                                                  \
  TROUPE_INLINE T multiply_add##suffix(T x, T y, T z) {                                                              \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](T a, T b, T c) { return fma_of(a, b, c); }, x, y, z); \
  }
#define TROUPE_CONVERTED(name, From, To, direction)                                                        \
  TROUPE_INLINE To name(From x) {                                                                          \
    return ::troupe_cuda::rounded<::troupe_cuda::direction>([](From a) { return static_cast<To>(a); }, x); \
  }
#define TROUPE_DIRECTION(suffix, direction)                                                                 \
  TROUPE_DIRECTED(float, suffix, direction, __fadd_, __fsub_, __fmul_, __fdiv_, __frcp_, __fsqrt_, __fmaf_, \
                  __builtin_sqrtf, __builtin_fmaf)                                                          \
  TROUPE_DIRECTED(double, suffix, direction, __dadd_, __dsub_, __dmul_, __ddiv_, __drcp_, __dsqrt_, __fma_, \
                  __builtin_sqrt, __builtin_fma)                                                            \
  TROUPE_CONVERTED(__double2float_##suffix, double, float, direction)                                       \
  TROUPE_CONVERTED(__int2float_##suffix, int, float, direction)                                             \
  TROUPE_CONVERTED(__uint2float_##suffix, unsigned, float, direction)                                       \
  TROUPE_CONVERTED(__ll2float_##suffix, long long, float, direction)                                        \
  TROUPE_CONVERTED(__ull2float_##suffix, unsigned long long, float, direction)                              \
  TROUPE_CONVERTED(__ll2double_##suffix, long long, double, direction)                                      \
  TROUPE_CONVERTED(__ull2double_##suffix, unsigned long long, double, direction)
TROUPE_DIRECTION(rd, rounds_down)
TROUPE_DIRECTION(ru, rounds_up)
TROUPE_DIRECTION(rz, rounds_to_zero)
#undef TROUPE_DIRECTION
#undef TROUPE_CONVERTED
#undef TROUPE_DIRECTED
