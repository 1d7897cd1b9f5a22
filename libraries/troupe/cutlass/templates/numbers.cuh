// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The element types. T::bits is the stored type. T::load(bits) returns a float or double of exactly that value, or for
// 64-bit integers of the nearest. T::store(x) rounds to the nearest value; integers and 8-bit types saturate. This file
// is compiled at run time and includes nothing.
namespace troupe::cutlass::kernels {

using i64 = long long;

namespace detail {
__device__ __forceinline__ unsigned bits_of(float x) { return __float_as_uint(x); }
__device__ __forceinline__ float float_of(unsigned x) { return __uint_as_float(x); }
// Converts two 8-bit floats to f16, or floats to two 8-bit floats.
#if __CUDA_ARCH__ >= 890
__device__ __forceinline__ unsigned halves_of_e4m3(unsigned short x) {
  unsigned out;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(out) : "h"(x));
  return out;
}
__device__ __forceinline__ unsigned short e4m3_of(float low, float high) {
  unsigned short out;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out) : "f"(high), "f"(low));
  return out;
}
__device__ __forceinline__ unsigned short e5m2_of(float low, float high) {
  unsigned short out;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(out) : "f"(high), "f"(low));
  return out;
}
#else
__device__ __forceinline__ unsigned half_of_e4m3(unsigned x) {
  // The exponent's bias is 7, that of f16 is 15: an f16 with the same bits is 2^8 times too small.
  const unsigned short small = static_cast<unsigned short>((x & 0x7f) << 7 | (x & 0x80) << 8), factor = 0x5c00;
  unsigned short out;
  asm("mul.rn.f16 %0, %1, %2;" : "=h"(out) : "h"(small), "h"(factor));
  return (x & 0x7f) == 0x7f ? 0x7fffu : out;
}
__device__ __forceinline__ unsigned halves_of_e4m3(unsigned short x) {
  return half_of_e4m3(x & 0xffu) | half_of_e4m3(x >> 8) << 16;
}
// Returns x as an 8-bit float with `mantissa` bits of mantissa. `smallest` is the least exponent of normal numbers,
// `largest` the code of the largest number, `nan` that of NaN.
__device__ __forceinline__ unsigned narrow(float x, int mantissa, int smallest, unsigned largest, unsigned nan) {
  const unsigned sign = bits_of(x) >> 24 & 0x80u;
  const float m = fabsf(x);
  if (m != m) return nan;
  int exponent = static_cast<int>(bits_of(m) >> 23) - 127;
  if (exponent < smallest) exponent = smallest;
  // The value is counted in units of the last bit.
  const float step = float_of(static_cast<unsigned>(exponent - mantissa + 127) << 23);
  const unsigned steps = m > 1e6f ? 0xffffu : static_cast<unsigned>(rintf(m / step));
  unsigned code = steps;
  if (steps >> mantissa != 0) code = steps + (static_cast<unsigned>(exponent - smallest) << mantissa);
  return sign | (code > largest ? largest : code);
}
__device__ __forceinline__ unsigned short e4m3_of(float low, float high) {
  return static_cast<unsigned short>(narrow(low, 3, -6, 0x7e, 0x7f) | narrow(high, 3, -6, 0x7e, 0x7f) << 8);
}
__device__ __forceinline__ unsigned short e5m2_of(float low, float high) {
  return static_cast<unsigned short>(narrow(low, 2, -14, 0x7b, 0x7f) | narrow(high, 2, -14, 0x7b, 0x7f) << 8);
}
#endif
__device__ __forceinline__ float float_of_half(unsigned short x) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x));
  return out;
}
template <class Integer>
struct limits {
  static constexpr bool is_signed = static_cast<Integer>(-1) < static_cast<Integer>(0);
  static constexpr int digits = 8 * sizeof(Integer) - (is_signed ? 1 : 0);
  static constexpr Integer most = static_cast<Integer>(~0ull >> (64 - digits)),
                           least = is_signed ? static_cast<Integer>(-most - 1) : static_cast<Integer>(0);
};
// Returns the integer nearest to x, limited to the type's range; 0 for NaN.
template <class Integer, class N>
__device__ __forceinline__ Integer rounded_to_integer(N x) {
  if (x != x) return 0;
  const N nearest = static_cast<N>(rint(x)), end = static_cast<N>(1ull << (limits<Integer>::digits - 1)) * 2;
  if (nearest >= end) return limits<Integer>::most;
  if (nearest < static_cast<N>(limits<Integer>::least)) return limits<Integer>::least;
  return static_cast<Integer>(nearest);
}
}  // namespace detail

struct f32 {
  using bits = float;
  static __device__ float load(float x) { return x; }
  template <class N>
  static __device__ float store(N x) {
    return static_cast<float>(x);
  }
};
struct f64 {
  using bits = double;
  static __device__ double load(double x) { return x; }
  template <class N>
  static __device__ double store(N x) {
    return x;
  }
};
struct f16 {
  using bits = unsigned short;
  static __device__ float load(bits x) { return detail::float_of_half(x); }
  static __device__ bits store(float x) {
    bits out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
    return out;
  }
  static __device__ bits store(double x) {
    bits out;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(out) : "d"(x));
    return out;
  }
};
// Rounds a double to a float that rounds to a narrower type as the double does.
__device__ __forceinline__ float rounded_to_odd(double x) {
  float f = static_cast<float>(x);
  if (static_cast<double>(f) == x || f != f || detail::bits_of(f) << 1 == 0xff000000u) return f;
  unsigned b = detail::bits_of(f);
  if (b & 1u) return f;
  const bool beyond = fabs(static_cast<double>(f)) > fabs(x);
  return detail::float_of(beyond ? b - 1 : b + 1);
}
struct bf16 {
  using bits = unsigned short;
  static __device__ float load(bits x) { return detail::float_of(static_cast<unsigned>(x) << 16); }
  static __device__ bits store(float x) {
    bits out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(x));
    return out;
  }
  static __device__ bits store(double x) { return store(rounded_to_odd(x)); }
};
struct e4m3 {
  using bits = unsigned char;
  static __device__ float load(bits x) {
    return detail::float_of_half(static_cast<unsigned short>(detail::halves_of_e4m3(x)));
  }
  static __device__ bits store(float x) { return static_cast<bits>(detail::e4m3_of(x, x)); }
  static __device__ bits store(double x) { return store(rounded_to_odd(x)); }
};
struct e5m2 {
  using bits = unsigned char;
  static __device__ float load(bits x) { return detail::float_of_half(static_cast<unsigned short>(x << 8)); }
  static __device__ bits store(float x) { return static_cast<bits>(detail::e5m2_of(x, x)); }
  static __device__ bits store(double x) { return store(rounded_to_odd(x)); }
};
// A power of two: an exponent with a bias of 127.
struct e8m0 {
  using bits = unsigned char;
  static __device__ float load(bits x) {
    if (x == 0xff) return detail::float_of(0x7fffffffu);
    return x == 0 ? detail::float_of(0x00400000u) : detail::float_of(static_cast<unsigned>(x) << 23);
  }
  static __device__ bits store(double x) {
    const unsigned long long b = static_cast<unsigned long long>(__double_as_longlong(x)) & ~(1ull << 63);
    const int below = static_cast<int>(b >> 52) - 1023 + 127;
    const unsigned long long rest = b << 12, half = 1ull << 63;
    if (x != x) return 0xff;
    if (below < 0) return 0;
    const int code = below + (rest > half || (rest == half && below % 2 != 0) ? 1 : 0);
    return static_cast<bits>(code > 0xfe ? 0xfe : code);
  }
};
// One 4-bit float in the low half of a byte.
struct f4 {
  using bits = unsigned char;
  static __device__ float load(bits x) {
    const unsigned m = x & 7u;
    const float value =
        m < 2 ? 0.5f * static_cast<float>(m) : detail::float_of((126 + (m >> 1)) << 23 | (m & 1u) << 22);
    return x & 8u ? -value : value;
  }
  static __device__ bits store(double x) {
    if (x != x) return 7;
    const double m = fabs(x);
    const int code = m <= 0.25   ? 0
                     : m < 0.75  ? 1
                     : m <= 1.25 ? 2
                     : m < 1.75  ? 3
                     : m <= 2.5  ? 4
                     : m < 3.5   ? 5
                     : m <= 5    ? 6
                                 : 7;
    return static_cast<bits>(code | (__double_as_longlong(x) < 0 ? 8 : 0));
  }
};
// Two 4-bit floats in a byte, the first in the low half.
struct f4x2 {
  using bits = unsigned char;
};
template <class Integer>
struct integer {
  using bits = Integer;
  static __device__ auto load(bits x) {
    if constexpr (sizeof(Integer) <= 2)
      return static_cast<float>(x);
    else
      return static_cast<double>(x);
  }
  template <class N>
  static __device__ bits store(N x) {
    return detail::rounded_to_integer<Integer>(x);
  }
};
// A truth value. A number that is not 0 is stored as 1, NaN included; a stored byte that is not 0 is loaded as 1.
struct boolean {
  using bits = unsigned char;
  static __device__ float load(bits x) { return x != 0 ? 1.0f : 0.0f; }
  template <class N>
  static __device__ bits store(N x) {
    return x != 0 ? 1 : 0;
  }
};
using i8 = integer<signed char>;
using u8 = integer<unsigned char>;
using i16 = integer<short>;
using u16 = integer<unsigned short>;
using i32 = integer<int>;
using u32 = integer<unsigned>;
using w64 = integer<long long>;
using u64 = integer<unsigned long long>;

// Returns two elements of 2 bytes in a word, the first in the low half.
template <class T, class N>
__device__ __forceinline__ unsigned two_of(N low, N high) {
  return static_cast<unsigned short>(T::store(low)) | static_cast<unsigned>(static_cast<unsigned short>(T::store(high)))
                                                          << 16;
}
template <>
__device__ __forceinline__ unsigned two_of<f16>(float low, float high) {
  unsigned out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
}
template <>
__device__ __forceinline__ unsigned two_of<bf16>(float low, float high) {
  unsigned out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
  return out;
}
// Returns two elements of 1 byte in 2 bytes, the first in the low half.
template <class T, class N>
__device__ __forceinline__ unsigned short two_bytes_of(N low, N high) {
  return static_cast<unsigned short>(static_cast<unsigned char>(T::store(low)) |
                                     static_cast<unsigned char>(T::store(high)) << 8);
}
template <>
__device__ __forceinline__ unsigned short two_bytes_of<e4m3>(float low, float high) {
  return detail::e4m3_of(low, high);
}
template <>
__device__ __forceinline__ unsigned short two_bytes_of<e5m2>(float low, float high) {
  return detail::e5m2_of(low, high);
}

}  // namespace troupe::cutlass::kernels
