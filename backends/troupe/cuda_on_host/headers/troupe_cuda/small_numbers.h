// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of cuda_fp8.h and cuda_fp4.h. Conversions round once, to nearest even unless the format says
// otherwise; a NaN gets the code that a GPU gives it.
#pragma once
#pragma GCC system_header
#include "../cuda_bf16.h"
#include "../cuda_fp16.h"

#ifndef TROUPE_CUDA_ROUND_MODE
#define TROUPE_CUDA_ROUND_MODE
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;

namespace troupe_cuda {

// A format with a sign. Codes above Largest are infinities, and codes from NaN on are NaNs. `Overflow` is the code of
// values beyond the largest number, unless they saturate.
template <unsigned Width, unsigned Mantissa, unsigned Bias, unsigned Largest, unsigned NaN, unsigned Overflow>
struct signed_format {
  static constexpr unsigned width = Width;
  static constexpr uint32_t dropped = 23 - Mantissa, sign = 1u << (Width - 1);

  static TROUPE_INLINE float widen(unsigned code) {
    const uint32_t magnitude = code & (sign - 1);
    const uint32_t normal = (magnitude << dropped) + ((127 - Bias) << 23);
    constexpr float smallest = 1.0f / (1u << (Bias + Mantissa - 1));
    const uint32_t small = bits_as<uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * smallest);
    const uint32_t u = magnitude < 1u << Mantissa ? small : magnitude > Largest ? 0x7f800000u : normal;
    return bits_as<float>(magnitude >= NaN ? 0x7fffffffu : u | (code & sign) << (32 - Width));
  }
  static TROUPE_INLINE unsigned narrow(float f, bool saturates = true) {
    const uint32_t u = bits_as<uint32_t>(f), magnitude = u & 0x7fffffffu;
    constexpr uint32_t rebias = (127 - Bias) << 23, half = (1u << (dropped - 1)) - 1;
    const uint32_t normal = (magnitude + half + (magnitude >> dropped & 1u) - rebias) >> dropped;
    // the last bit of this float has the value of the format's smallest number
    constexpr uint32_t adder = (127 + 24 - Bias - Mantissa) << 23;
    const uint32_t small = bits_as<uint32_t>(bits_as<float>(magnitude) + bits_as<float>(adder)) - adder;
    uint32_t code = magnitude < rebias + (1u << 23) ? small : normal;
    code = code > Largest ? (saturates ? Largest : Overflow) : code;
    return magnitude > 0x7f800000u ? sign - 1 : code | (u >> 31) * sign;
  }
  static TROUPE_INLINE unsigned towards_zero(float f) {
    const unsigned code = narrow(f), magnitude = code & (sign - 1);
    const float got = widen(code);
    return magnitude != 0 && (got < 0 ? got < f : got > f) ? code - 1 : code;
  }
};

// A format of powers of two, without sign and zero.
struct exponent_format {
  static constexpr unsigned width = 8;

  static TROUPE_INLINE float widen(unsigned code) {
    return bits_as<float>(code == 0xff ? 0x7fffffffu : code == 0 ? 0x00400000u : code << 23);
  }
  static TROUPE_INLINE unsigned narrow(float f, bool saturates = true, bool up = true) {
    const uint32_t magnitude = bits_as<uint32_t>(f) & 0x7fffffffu, whole = magnitude >> 23;
    const uint32_t rest = magnitude & 0x7fffffu, exact = whole == 0 ? 0x400000u : 0;
    const uint32_t code = whole + (up && rest > exact ? 1 : 0);
    if (magnitude > 0x7f800000u) return 0xff;
    return code > 0xfe ? (saturates ? 0xfe : 0xff) : code;
  }
};

template <class To>
TROUPE_INLINE To saturated(float f) {
  constexpr bool is_signed = To(-1) < To(1);
  constexpr To highest = To(is_signed ? ~(1ull << (8 * sizeof(To) - 1)) : ~0ull),
               lowest = To(is_signed ? -highest - 1 : 0);
  if (!(f == f)) return 0;
  return f >= static_cast<float>(highest) ? highest : f <= static_cast<float>(lowest) ? lowest : static_cast<To>(f);
}

template <class Format, class Storage>
struct small_number {
  Storage __x;

  small_number() = default;
  explicit TROUPE_INLINE small_number(float f) : __x(static_cast<Storage>(Format::narrow(f))) {}
  explicit TROUPE_INLINE small_number(double f) : small_number(to_odd_float(f)) {}
  explicit TROUPE_INLINE small_number(__half f) : small_number(static_cast<float>(f)) {}
  explicit TROUPE_INLINE small_number(__nv_bfloat16 f) : small_number(static_cast<float>(f)) {}
#define TROUPE_WHOLE(type)                                                             \
  explicit TROUPE_INLINE small_number(type n) : small_number(whole_to_odd<type>(n)) {} \
  explicit TROUPE_INLINE operator type() const { return saturated<type>(static_cast<float>(*this)); }
  TROUPE_WHOLE(short)
  TROUPE_WHOLE(unsigned short)
  TROUPE_WHOLE(int)
  TROUPE_WHOLE(unsigned)
  TROUPE_WHOLE(long)
  TROUPE_WHOLE(unsigned long)
  TROUPE_WHOLE(long long)
  TROUPE_WHOLE(unsigned long long)
#undef TROUPE_WHOLE
  explicit TROUPE_INLINE operator float() const { return Format::widen(__x); }
  explicit TROUPE_INLINE operator double() const { return static_cast<float>(*this); }
  explicit TROUPE_INLINE operator __half() const { return __half(static_cast<float>(*this)); }
  explicit TROUPE_INLINE operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); }
  explicit TROUPE_INLINE operator char() const { return saturated<char>(static_cast<float>(*this)); }
  explicit TROUPE_INLINE operator signed char() const { return saturated<signed char>(static_cast<float>(*this)); }
  explicit TROUPE_INLINE operator unsigned char() const { return saturated<unsigned char>(static_cast<float>(*this)); }
  explicit TROUPE_INLINE operator bool() const { return static_cast<float>(*this) != 0; }
};

template <class Format, class Storage>
struct small_pair {
  Storage __x;

  small_pair() = default;
  explicit TROUPE_INLINE small_pair(float2 v)
      : __x(static_cast<Storage>(Format::narrow(v.x) | Format::narrow(v.y) << Format::width)) {}
  explicit TROUPE_INLINE small_pair(double2 v) : small_pair(float2{to_odd_float(v.x), to_odd_float(v.y)}) {}
  explicit TROUPE_INLINE small_pair(__half2 v) : small_pair(__half22float2(v)) {}
  explicit TROUPE_INLINE small_pair(__nv_bfloat162 v) : small_pair(__bfloat1622float2(v)) {}
  explicit TROUPE_INLINE operator float2() const { return {part(0), part(1)}; }
  explicit TROUPE_INLINE operator __half2() const { return {__half(part(0)), __half(part(1))}; }
  explicit TROUPE_INLINE operator __nv_bfloat162() const { return {__nv_bfloat16(part(0)), __nv_bfloat16(part(1))}; }

 private:
  TROUPE_INLINE float part(unsigned i) const {
    return Format::widen(static_cast<unsigned>(__x) >> i * Format::width & ((1u << Format::width) - 1));
  }
};

template <class Format, class Storage>
struct small_quad {
  Storage __x;

  small_quad() = default;
  explicit TROUPE_INLINE small_quad(float4 v)
      : __x(static_cast<Storage>(Format::narrow(v.x) | Format::narrow(v.y) << Format::width |
                                 Format::narrow(v.z) << 2 * Format::width | Format::narrow(v.w) << 3 * Format::width)) {
  }
  explicit TROUPE_INLINE small_quad(double4 v)
      : small_quad(float4{to_odd_float(v.x), to_odd_float(v.y), to_odd_float(v.z), to_odd_float(v.w)}) {}
  TROUPE_INLINE small_quad(__half2 low, __half2 high)
      : small_quad(float4{static_cast<float>(low.x), static_cast<float>(low.y), static_cast<float>(high.x),
                          static_cast<float>(high.y)}) {}
  TROUPE_INLINE small_quad(__nv_bfloat162 low, __nv_bfloat162 high)
      : small_quad(float4{static_cast<float>(low.x), static_cast<float>(low.y), static_cast<float>(high.x),
                          static_cast<float>(high.y)}) {}
  explicit TROUPE_INLINE operator float4() const { return {part(0), part(1), part(2), part(3)}; }

 private:
  TROUPE_INLINE float part(unsigned i) const {
    return Format::widen(static_cast<unsigned>(__x) >> i * Format::width & ((1u << Format::width) - 1));
  }
};

}  // namespace troupe_cuda

// The classes of one format, for one, two and four numbers.
#define TROUPE_SMALL_TYPES(prefix, name, format, one, two, four)                     \
  struct alignas(one) prefix##_##name : ::troupe_cuda::small_number<format, one> {   \
    using ::troupe_cuda::small_number<format, one>::small_number;                    \
    prefix##_##name() = default;                                                     \
  };                                                                                 \
  struct alignas(two) prefix##x2_##name : ::troupe_cuda::small_pair<format, two> {   \
    using ::troupe_cuda::small_pair<format, two>::small_pair;                        \
    prefix##x2_##name() = default;                                                   \
  };                                                                                 \
  struct alignas(four) prefix##x4_##name : ::troupe_cuda::small_quad<format, four> { \
    using ::troupe_cuda::small_quad<format, four>::small_quad;                       \
    prefix##x4_##name() = default;                                                   \
  };
