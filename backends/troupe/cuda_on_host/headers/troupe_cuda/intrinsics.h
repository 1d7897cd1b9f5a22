// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Integer, conversion and arithmetic intrinsics; loads and stores with cache hints, which are plain ones here.
#pragma once
#pragma GCC system_header

TROUPE_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
TROUPE_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
TROUPE_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
TROUPE_INLINE int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
TROUPE_INLINE int __ffs(int x) { return __builtin_ffs(x); }
TROUPE_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
TROUPE_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
TROUPE_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
TROUPE_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selector >> 4 * i;
    unsigned one = static_cast<unsigned>(bytes >> 8 * (s & 7)) & 0xff;
    if (s & 8) one = one & 0x80 ? 0xff : 0;  // replicates the sign bit
    out |= one << 8 * i;
  }
  return out;
}
TROUPE_INLINE int __mul24(int x, int y) {
  return static_cast<int>(static_cast<unsigned>(x << 8 >> 8) * static_cast<unsigned>(y << 8 >> 8));
}
TROUPE_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
TROUPE_INLINE int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
TROUPE_INLINE unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
TROUPE_INLINE long long __mul64hi(long long x, long long y) {
  return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
TROUPE_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
TROUPE_INLINE unsigned __sad(int x, int y, unsigned z) {
  return z + (x < y ? static_cast<unsigned>(y) - static_cast<unsigned>(x)
                    : static_cast<unsigned>(x) - static_cast<unsigned>(y));
}
TROUPE_INLINE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }
TROUPE_INLINE int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
TROUPE_INLINE int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
TROUPE_INLINE unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1);
}
TROUPE_INLINE unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
TROUPE_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
TROUPE_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
TROUPE_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
TROUPE_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
TROUPE_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}
TROUPE_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
  return c;
}

TROUPE_INLINE int __float_as_int(float x) { return ::troupe_cuda::bits_as<int>(x); }
TROUPE_INLINE unsigned __float_as_uint(float x) { return ::troupe_cuda::bits_as<unsigned>(x); }
TROUPE_INLINE float __int_as_float(int x) { return ::troupe_cuda::bits_as<float>(x); }
TROUPE_INLINE float __uint_as_float(unsigned x) { return ::troupe_cuda::bits_as<float>(x); }
TROUPE_INLINE long long __double_as_longlong(double x) { return ::troupe_cuda::bits_as<long long>(x); }
TROUPE_INLINE double __longlong_as_double(long long x) { return ::troupe_cuda::bits_as<double>(x); }
TROUPE_INLINE int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
TROUPE_INLINE int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
TROUPE_INLINE double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}

namespace troupe_cuda {
// Conversions to integers saturate and turn NaN into 0, as on the hardware.
template <class To, class From>
TROUPE_INLINE To saturated(From x) {
  constexpr To lowest = To(-1) < To(0) ? static_cast<To>(static_cast<To>(1) << (sizeof(To) * 8 - 1)) : To(0);
  constexpr To highest = static_cast<To>(~lowest);
  if (!(x == x)) return 0;
  const From below = static_cast<From>(lowest);
  const From above = -static_cast<From>(lowest == 0 ? 0 : lowest);
  const From limit = lowest == 0 ? static_cast<From>(highest / 2 + 1) * 2 : above;
  if (x <= below) return lowest;
  if (x >= limit) return highest;
  return static_cast<To>(x);
}
}  // namespace troupe_cuda

#define TROUPE_ROUNDED(from, suffix, to, To)                                                           \
  TROUPE_INLINE To __##from##2##to##_rn(suffix x) { return ::troupe_cuda::saturated<To>(::rint(x)); }  \
  TROUPE_INLINE To __##from##2##to##_rz(suffix x) { return ::troupe_cuda::saturated<To>(::trunc(x)); } \
  TROUPE_INLINE To __##from##2##to##_rd(suffix x) { return ::troupe_cuda::saturated<To>(::floor(x)); } \
  TROUPE_INLINE To __##from##2##to##_ru(suffix x) { return ::troupe_cuda::saturated<To>(::ceil(x)); }
TROUPE_ROUNDED(float, float, int, int)
TROUPE_ROUNDED(float, float, uint, unsigned)
TROUPE_ROUNDED(float, float, ll, long long)
TROUPE_ROUNDED(float, float, ull, unsigned long long)
TROUPE_ROUNDED(double, double, int, int)
TROUPE_ROUNDED(double, double, uint, unsigned)
TROUPE_ROUNDED(double, double, ll, long long)
TROUPE_ROUNDED(double, double, ull, unsigned long long)
#undef TROUPE_ROUNDED
TROUPE_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
TROUPE_INLINE float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
TROUPE_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
TROUPE_INLINE float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
TROUPE_INLINE double __int2double_rn(int x) { return x; }
TROUPE_INLINE double __uint2double_rn(unsigned x) { return x; }
TROUPE_INLINE double __ll2double_rn(long long x) { return static_cast<double>(x); }
TROUPE_INLINE double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
TROUPE_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }

// These are never fused with neighboring operations.
#define TROUPE_KEEP(type, value) \
  type result = value;           \
  asm("" : "+x"(result));        \
  return result
#if !defined(__x86_64__)
#undef TROUPE_KEEP
#define TROUPE_KEEP(type, value) \
  type result = value;           \
  asm("" : "+w"(result));        \
  return result
#endif
TROUPE_INLINE float __fadd_rn(float x, float y) { TROUPE_KEEP(float, x + y); }
TROUPE_INLINE float __fsub_rn(float x, float y) { TROUPE_KEEP(float, x - y); }
TROUPE_INLINE float __fmul_rn(float x, float y) { TROUPE_KEEP(float, x* y); }
TROUPE_INLINE double __dadd_rn(double x, double y) { TROUPE_KEEP(double, x + y); }
TROUPE_INLINE double __dsub_rn(double x, double y) { TROUPE_KEEP(double, x - y); }
TROUPE_INLINE double __dmul_rn(double x, double y) { TROUPE_KEEP(double, x* y); }
#undef TROUPE_KEEP
TROUPE_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
TROUPE_INLINE float __fdiv_rn(float x, float y) { return x / y; }
TROUPE_INLINE float __frcp_rn(float x) { return 1.0f / x; }
TROUPE_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
TROUPE_INLINE float __frsqrt_rn(float x) { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))); }
TROUPE_INLINE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
TROUPE_INLINE double __ddiv_rn(double x, double y) { return x / y; }
TROUPE_INLINE double __drcp_rn(double x) { return 1.0 / x; }
TROUPE_INLINE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
TROUPE_INLINE float __fdividef(float x, float y) { return x / y; }
TROUPE_INLINE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

namespace troupe_cuda {
// Returns e to the x, with an error of at most two units in the last place, in arithmetic that the compiler vectorizes:
// x = n ln 2 + r, and a polynomial for e to the r.
TROUPE_INLINE float quick_exp(float x) {
  const float clamped = __builtin_fminf(__builtin_fmaxf(x, -104.0f), 89.0f);
  const float n = __builtin_rintf(clamped * 1.44269504088896341f);
  float r = __builtin_fmaf(n, -0.693359375f, clamped);
  r = __builtin_fmaf(n, 2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = __builtin_fmaf(p, r, 1.3981999507e-3f);
  p = __builtin_fmaf(p, r, 8.3334519073e-3f);
  p = __builtin_fmaf(p, r, 4.1665795894e-2f);
  p = __builtin_fmaf(p, r, 1.6666665459e-1f);
  p = __builtin_fmaf(p, r, 5.0000001201e-1f);
  p = __builtin_fmaf(p * r, r, r) + 1.0f;
  // Multiplies by 2 to the n in two factors, because n may exceed the range of an exponent.
  const int whole = static_cast<int>(n), half = whole >> 1;
  const float a = bits_as<float>((half + 127) << 23), b = bits_as<float>((whole - half + 127) << 23);
  const float y = p * a * b;
  return x == x ? y : x;
}
}  // namespace troupe_cuda
TROUPE_INLINE float __expf(float x) { return ::troupe_cuda::quick_exp(x); }
TROUPE_INLINE float __exp10f(float x) { return ::troupe_cuda::quick_exp(x * 2.30258509299404568f); }
TROUPE_INLINE float __logf(float x) { return __builtin_logf(x); }
TROUPE_INLINE float __log2f(float x) { return __builtin_log2f(x); }
TROUPE_INLINE float __log10f(float x) { return __builtin_log10f(x); }
TROUPE_INLINE float __powf(float x, float y) { return __builtin_powf(x, y); }
TROUPE_INLINE float __tanf(float x) { return __builtin_tanf(x); }
TROUPE_INLINE float __tanhf(float x) { return __builtin_tanhf(x); }
TROUPE_INLINE void __sincosf(float x, float* s, float* c) {
  *s = __builtin_sinf(x);
  *c = __builtin_cosf(x);
}
// The C library's functions of these names have the same results.
#define __sinf(x) ::troupe_cuda::sine(x)
#define __cosf(x) ::troupe_cuda::cosine(x)
namespace troupe_cuda {
TROUPE_INLINE float sine(float x) { return __builtin_sinf(x); }
TROUPE_INLINE float cosine(float x) { return __builtin_cosf(x); }
}  // namespace troupe_cuda

#define TROUPE_LOAD(name)             \
  template <class T>                  \
  TROUPE_INLINE T name(const T* at) { \
    return *at;                       \
  }
TROUPE_LOAD(__ldg)
TROUPE_LOAD(__ldca)
TROUPE_LOAD(__ldcg)
TROUPE_LOAD(__ldcs)
TROUPE_LOAD(__ldlu)
TROUPE_LOAD(__ldcv)
#undef TROUPE_LOAD
#define TROUPE_STORE(name)                  \
  template <class T>                        \
  TROUPE_INLINE void name(T* at, T value) { \
    *at = value;                            \
  }
TROUPE_STORE(__stwb)
TROUPE_STORE(__stcg)
TROUPE_STORE(__stcs)
TROUPE_STORE(__stwt)
#undef TROUPE_STORE

TROUPE_INLINE long long clock64() {
#if defined(__x86_64__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  return static_cast<long long>(__builtin_readcyclecounter());
#endif
}
inline void __nanosleep(unsigned) {}
