// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of half and bfloat16. Results equal CUDA's: each operation is computed with sufficient accuracy in a
// wider type and rounded once, to nearest even. Conversions use integer arithmetic, which both compilers vectorize.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

struct half_format {
  static TROUPE_INLINE float widen(uint16_t h) {
    const uint32_t magnitude = h & 0x7fffu, sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t normal = (magnitude << 13) + (112u << 23);
    const uint32_t special = magnitude << 13 | 0x7f800000u;
    // Avoids a subnormal float, which may be flushed to zero.
    const uint32_t small = bits_as<uint32_t>(static_cast<float>(static_cast<int>(magnitude)) * 0x1p-24f);
    uint32_t u = magnitude < 0x0400u ? small : normal;
    u = magnitude >= 0x7c00u ? special : u;
    return bits_as<float>(u | sign);
  }
  static TROUPE_INLINE uint16_t narrow(float f) {
    uint32_t u = bits_as<uint32_t>(f);
    const uint32_t sign = u & 0x80000000u;
    u ^= sign;
    uint32_t r = (u + 0xfffu + (u >> 13 & 1u) - 0x38000000u) >> 13;
    const uint32_t small = bits_as<uint32_t>(bits_as<float>(u) + 0.5f) - 0x3f000000u;  // the addition rounds
    r = u < 0x38800000u ? small : r;
    r = u >= 0x477ff000u ? 0x7c00u : r;
    r = u > 0x7f800000u ? 0x7fffu : r;
    return static_cast<uint16_t>(r | (u > 0x7f800000u ? 0 : sign >> 16));
  }
  static constexpr uint16_t infinity = 0x7c00, one = 0x3c00, largest = 0x7bff;
};

struct bfloat16_format {
  static TROUPE_INLINE float widen(uint16_t h) { return bits_as<float>(static_cast<uint32_t>(h) << 16); }
  static TROUPE_INLINE uint16_t narrow(float f) {
    const uint32_t u = bits_as<uint32_t>(f);
    const uint32_t r = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r);
  }
  static constexpr uint16_t infinity = 0x7f80, one = 0x3f80, largest = 0x7f7f;
};

// Converts a double to a float, rounded to odd: rounding the result to fewer bits gives the same as rounding once.
TROUPE_INLINE float to_odd_float(double x) {
  const float f = static_cast<float>(x);
  const double back = f;
  const uint32_t u = bits_as<uint32_t>(f);
  // If the result is inexact and its last bit is 0, replaces it by the neighbor in the direction of x, whose last bit
  // is 1.
  const bool inexact = back != x && x == x && (u & 1u) == 0 && (u & 0x7f800000u) != 0x7f800000u;
  const bool away = (x < 0 ? -x : x) > (back < 0 ? -back : back);
  return bits_as<float>(inexact ? (away ? u + 1 : u - 1) : u);
}

// Returns x * y + z, rounded once. The product of two half or bfloat16 numbers is exact in double; if the sum is
// inexact, its last bit is set accordingly.
TROUPE_INLINE float fused(float x, float y, float z) {
  const double product = static_cast<double>(x) * y, addend = z;
  double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  const uint64_t u = bits_as<uint64_t>(sum);
  const bool odd = (u & 1u) != 0 || !(error != 0) || !(sum - sum == 0);
  const bool away = (error > 0) == (sum > 0);
  sum = bits_as<double>(odd ? u : away ? u + 1 : u - 1);
  return to_odd_float(sum);
}

// Rounds in a given direction: takes the nearest number, and its neighbor if that is on the wrong side of x.
template <class Format>
TROUPE_INLINE uint16_t narrow_towards(double x, int direction) {  // direction: -1 down, 0 to zero, 1 up
  uint16_t r = Format::narrow(to_odd_float(x));
  if (!(x == x)) return r;
  const double got = static_cast<double>(Format::widen(r));
  const bool too_high = got > x, too_low = got < x;
  const bool down = direction < 0 || (direction == 0 && x > 0), up = direction > 0 || (direction == 0 && x < 0);
  if (too_high && down) r = (r & 0x7fff) == 0 ? 0x8001 : r & 0x8000 ? r + 1 : r - 1;
  if (too_low && up) r = (r & 0x7fff) == 0 ? 0x0001 : r & 0x8000 ? r - 1 : r + 1;
  return r;
}

}  // namespace troupe_cuda

#define TROUPE_NARROW_TYPES(name, pair, format, raw, raw_pair)                                                      \
  struct alignas(2) raw {                                                                                           \
    unsigned short x;                                                                                               \
  };                                                                                                                \
  struct alignas(4) raw_pair {                                                                                      \
    unsigned short x, y;                                                                                            \
  };                                                                                                                \
  struct alignas(2) name {                                                                                          \
    unsigned short bits;                                                                                            \
    name() = default;                                                                                               \
    TROUPE_INLINE name(float x) : bits(::troupe_cuda::format::narrow(x)) {}                                         \
    TROUPE_INLINE name(double x) : bits(::troupe_cuda::format::narrow(::troupe_cuda::to_odd_float(x))) {}           \
    TROUPE_INLINE name(int x) : name(static_cast<double>(x)) {}                                                     \
    TROUPE_INLINE name(unsigned x) : name(static_cast<double>(x)) {}                                                \
    TROUPE_INLINE name(short x) : name(static_cast<float>(x)) {}                                                    \
    TROUPE_INLINE name(unsigned short x) : name(static_cast<float>(x)) {}                                           \
    TROUPE_INLINE name(long x) : name(::troupe_cuda::whole_to_odd(x)) {}                                            \
    TROUPE_INLINE name(unsigned long x) : name(::troupe_cuda::whole_to_odd(x)) {}                                   \
    TROUPE_INLINE name(long long x) : name(::troupe_cuda::whole_to_odd(x)) {}                                       \
    TROUPE_INLINE name(unsigned long long x) : name(::troupe_cuda::whole_to_odd(x)) {}                              \
    TROUPE_INLINE operator float() const { return ::troupe_cuda::format::widen(bits); }                             \
    TROUPE_INLINE explicit operator bool() const { return (bits & 0x7fff) != 0; }                                   \
    TROUPE_INLINE explicit operator int() const { return static_cast<int>(static_cast<float>(*this)); }             \
    TROUPE_INLINE explicit operator unsigned() const { return static_cast<unsigned>(static_cast<float>(*this)); }   \
    TROUPE_INLINE explicit operator long long() const { return static_cast<long long>(static_cast<float>(*this)); } \
    TROUPE_INLINE name(raw r) : bits(r.x) {}                                                                        \
    TROUPE_INLINE operator raw() const { return {bits}; }                                                           \
    static TROUPE_INLINE name of_bits(unsigned short b) {                                                           \
      name r;                                                                                                       \
      r.bits = b;                                                                                                   \
      return r;                                                                                                     \
    }                                                                                                               \
  };                                                                                                                \
  struct alignas(4) pair {                                                                                          \
    name x, y;                                                                                                      \
    pair() = default;                                                                                               \
    TROUPE_INLINE pair(name a, name b) : x(a), y(b) {}                                                              \
    TROUPE_INLINE pair(raw_pair r) : x(raw{r.x}), y(raw{r.y}) {}                                                    \
    TROUPE_INLINE operator raw_pair() const { return {x.bits, y.bits}; }                                            \
  };

namespace troupe_cuda {
// Converts 64-bit integers to doubles whose last bit is set if the result is inexact.
template <class T>
TROUPE_INLINE double whole_to_odd(T x) {
  const bool negative = x < T(0);
  const uint64_t m = negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const double d =
      m >> 53 ? static_cast<double>((m >> 12) | ((m & 0xfff) != 0 ? 1 : 0)) * 4096.0 : static_cast<double>(m);
  return negative ? -d : d;
}
}  // namespace troupe_cuda

// Arithmetic, comparisons and functions of one number, for single numbers and for pairs.
#define TROUPE_NARROW_ARITHMETIC(name, pair, format)                                                                  \
  TROUPE_INLINE name __hadd(name a, name b) { return name(static_cast<float>(a) + static_cast<float>(b)); }           \
  TROUPE_INLINE name __hsub(name a, name b) { return name(static_cast<float>(a) - static_cast<float>(b)); }           \
  TROUPE_INLINE name __hmul(name a, name b) { return name(__fmul_rn(static_cast<float>(a), static_cast<float>(b))); } \
  TROUPE_INLINE name __hdiv(name a, name b) { return name(static_cast<float>(a) / static_cast<float>(b)); }           \
  TROUPE_INLINE name __hfma(name a, name b, name c) {                                                                 \
    return name(::troupe_cuda::fused(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));           \
  }                                                                                                                   \
  TROUPE_INLINE name __hneg(name a) { return name::of_bits(static_cast<unsigned short>(a.bits ^ 0x8000)); }           \
  TROUPE_INLINE name __habs(name a) { return name::of_bits(a.bits & 0x7fff); }                                        \
  TROUPE_INLINE bool __hisnan(name a) { return (a.bits & 0x7fff) > ::troupe_cuda::format::infinity; }                 \
  TROUPE_INLINE int __hisinf(name a) {                                                                                \
    return (a.bits & 0x7fff) == ::troupe_cuda::format::infinity ? (a.bits & 0x8000 ? -1 : 1) : 0;                     \
  }                                                                                                                   \
  TROUPE_INLINE bool __heq(name a, name b) { return static_cast<float>(a) == static_cast<float>(b); }                 \
  TROUPE_INLINE bool __hne(name a, name b) {                                                                          \
    return static_cast<float>(a) < static_cast<float>(b) || static_cast<float>(a) > static_cast<float>(b);            \
  }                                                                                                                   \
  TROUPE_INLINE bool __hlt(name a, name b) { return static_cast<float>(a) < static_cast<float>(b); }                  \
  TROUPE_INLINE bool __hle(name a, name b) { return static_cast<float>(a) <= static_cast<float>(b); }                 \
  TROUPE_INLINE bool __hgt(name a, name b) { return static_cast<float>(a) > static_cast<float>(b); }                  \
  TROUPE_INLINE bool __hge(name a, name b) { return static_cast<float>(a) >= static_cast<float>(b); }                 \
  TROUPE_INLINE bool __hequ(name a, name b) { return !(__hlt(a, b) || __hgt(a, b)); }                                 \
  TROUPE_INLINE bool __hneu(name a, name b) { return !__heq(a, b); }                                                  \
  TROUPE_INLINE bool __hltu(name a, name b) { return !__hge(a, b); }                                                  \
  TROUPE_INLINE bool __hleu(name a, name b) { return !__hgt(a, b); }                                                  \
  TROUPE_INLINE bool __hgtu(name a, name b) { return !__hle(a, b); }                                                  \
  TROUPE_INLINE bool __hgeu(name a, name b) { return !__hlt(a, b); }                                                  \
  TROUPE_INLINE name __hmax(name a, name b) {                                                                         \
    return __hisnan(a) ? b : __hisnan(b) ? a : __hlt(a, b) || (__heq(a, b) && (a.bits & 0x8000)) ? b : a;             \
  }                                                                                                                   \
  TROUPE_INLINE name __hmin(name a, name b) {                                                                         \
    return __hisnan(a) ? b : __hisnan(b) ? a : __hlt(b, a) || (__heq(a, b) && (b.bits & 0x8000)) ? b : a;             \
  }                                                                                                                   \
  TROUPE_INLINE name __hmax_nan(name a, name b) {                                                                     \
    return __hisnan(a) || __hisnan(b) ? name::of_bits(0x7fff) : __hmax(a, b);                                         \
  }                                                                                                                   \
  TROUPE_INLINE name __hmin_nan(name a, name b) {                                                                     \
    return __hisnan(a) || __hisnan(b) ? name::of_bits(0x7fff) : __hmin(a, b);                                         \
  }                                                                                                                   \
  namespace troupe_cuda {                                                                                             \
  TROUPE_INLINE name saturate(name a) {                                                                               \
    return __hisnan(a) ? name::of_bits(0) : __hmin(__hmax(a, name::of_bits(0)), name::of_bits(format::one));          \
  }                                                                                                                   \
  TROUPE_INLINE name rectify(name a) { return __hisnan(a) ? name::of_bits(0x7fff) : __hmax(a, name::of_bits(0)); }    \
  }                                                                                                                   \
  TROUPE_INLINE name __hadd_rn(name a, name b) { return __hadd(a, b); }                                               \
  TROUPE_INLINE name __hsub_rn(name a, name b) { return __hsub(a, b); }                                               \
  TROUPE_INLINE name __hmul_rn(name a, name b) { return __hmul(a, b); }                                               \
  TROUPE_INLINE name __hadd_sat(name a, name b) { return ::troupe_cuda::saturate(__hadd(a, b)); }                     \
  TROUPE_INLINE name __hsub_sat(name a, name b) { return ::troupe_cuda::saturate(__hsub(a, b)); }                     \
  TROUPE_INLINE name __hmul_sat(name a, name b) { return ::troupe_cuda::saturate(__hmul(a, b)); }                     \
  TROUPE_INLINE name __hfma_sat(name a, name b, name c) { return ::troupe_cuda::saturate(__hfma(a, b, c)); }          \
  TROUPE_INLINE name __hfma_relu(name a, name b, name c) { return ::troupe_cuda::rectify(__hfma(a, b, c)); }          \
  TROUPE_INLINE name operator+(const name& a, const name& b) { return __hadd(a, b); }                                 \
  TROUPE_INLINE name operator-(const name& a, const name& b) { return __hsub(a, b); }                                 \
  TROUPE_INLINE name operator*(const name& a, const name& b) { return __hmul(a, b); }                                 \
  TROUPE_INLINE name operator/(const name& a, const name& b) { return __hdiv(a, b); }                                 \
  TROUPE_INLINE name& operator+=(name& a, const name& b) { return a = a + b; }                                        \
  TROUPE_INLINE name& operator-=(name& a, const name& b) { return a = a - b; }                                        \
  TROUPE_INLINE name& operator*=(name& a, const name& b) { return a = a * b; }                                        \
  TROUPE_INLINE name& operator/=(name& a, const name& b) { return a = a / b; }                                        \
  TROUPE_INLINE name& operator++(name& a) { return a = __hadd(a, name::of_bits(::troupe_cuda::format::one)); }        \
  TROUPE_INLINE name& operator--(name& a) { return a = __hsub(a, name::of_bits(::troupe_cuda::format::one)); }        \
  TROUPE_INLINE name operator+(const name& a) { return a; }                                                           \
  TROUPE_INLINE name operator-(const name& a) { return __hneg(a); }                                                   \
  TROUPE_INLINE bool operator==(const name& a, const name& b) { return __heq(a, b); }                                 \
  TROUPE_INLINE bool operator!=(const name& a, const name& b) { return __hneu(a, b); }                                \
  TROUPE_INLINE bool operator<(const name& a, const name& b) { return __hlt(a, b); }                                  \
  TROUPE_INLINE bool operator<=(const name& a, const name& b) { return __hle(a, b); }                                 \
  TROUPE_INLINE bool operator>(const name& a, const name& b) { return __hgt(a, b); }                                  \
  TROUPE_INLINE bool operator>=(const name& a, const name& b) { return __hge(a, b); }                                 \
  TROUPE_NARROW_FUNCTIONS(name, pair)                                                                                 \
  TROUPE_NARROW_PAIRS(name, pair)

#define TROUPE_NARROW_FUNCTION(name, pair, function, expression) \
  TROUPE_INLINE name h##function(name a) {                       \
    const float x = static_cast<float>(a);                       \
    return name(expression);                                     \
  }                                                              \
  TROUPE_INLINE pair h2##function(pair a) { return pair(h##function(a.x), h##function(a.y)); }
#define TROUPE_NARROW_FUNCTIONS(name, pair)                                                        \
  TROUPE_NARROW_FUNCTION(name, pair, sqrt, ::troupe_cuda::to_odd_float(__builtin_sqrt(double(x)))) \
  TROUPE_NARROW_FUNCTION(name, pair, rsqrt, 1.0 / __builtin_sqrt(double(x)))                       \
  TROUPE_NARROW_FUNCTION(name, pair, rcp, 1.0f / x)                                                \
  TROUPE_NARROW_FUNCTION(name, pair, exp, ::exp(double(x)))                                        \
  TROUPE_NARROW_FUNCTION(name, pair, exp2, ::exp2(double(x)))                                      \
  TROUPE_NARROW_FUNCTION(name, pair, exp10, ::pow(10.0, double(x)))                                \
  TROUPE_NARROW_FUNCTION(name, pair, log, ::log(double(x)))                                        \
  TROUPE_NARROW_FUNCTION(name, pair, log2, ::log2(double(x)))                                      \
  TROUPE_NARROW_FUNCTION(name, pair, log10, ::log10(double(x)))                                    \
  TROUPE_NARROW_FUNCTION(name, pair, sin, ::sin(double(x)))                                        \
  TROUPE_NARROW_FUNCTION(name, pair, cos, ::cos(double(x)))                                        \
  TROUPE_NARROW_FUNCTION(name, pair, tanh, ::tanh(double(x)))                                      \
  TROUPE_NARROW_FUNCTION(name, pair, floor, __builtin_floorf(x))                                   \
  TROUPE_NARROW_FUNCTION(name, pair, ceil, __builtin_ceilf(x))                                     \
  TROUPE_NARROW_FUNCTION(name, pair, trunc, __builtin_truncf(x))                                   \
  TROUPE_NARROW_FUNCTION(name, pair, rint, __builtin_rintf(x))

#define TROUPE_NARROW_PAIR2(name, pair, function, single) \
  TROUPE_INLINE pair function(pair a, pair b) { return pair(single(a.x, b.x), single(a.y, b.y)); }
#define TROUPE_NARROW_PAIR3(name, pair, function, single) \
  TROUPE_INLINE pair function(pair a, pair b, pair c) { return pair(single(a.x, b.x, c.x), single(a.y, b.y, c.y)); }
#define TROUPE_NARROW_COMPARE(name, pair, how)                                                         \
  TROUPE_INLINE pair __h##how##2(pair a, pair b) {                                                     \
    return pair(name(__h##how(a.x, b.x) ? 1.0f : 0.0f), name(__h##how(a.y, b.y) ? 1.0f : 0.0f));       \
  }                                                                                                    \
  TROUPE_INLINE bool __hb##how##2(pair a, pair b) { return __h##how(a.x, b.x) && __h##how(a.y, b.y); } \
  TROUPE_INLINE unsigned __h##how##2_mask(pair a, pair b) {                                            \
    return (__h##how(a.x, b.x) ? 0xffffu : 0) | (__h##how(a.y, b.y) ? 0xffff0000u : 0);                \
  }
#define TROUPE_NARROW_PAIRS(name, pair)                                                    \
  TROUPE_NARROW_PAIR2(name, pair, __hadd2, __hadd)                                         \
  TROUPE_NARROW_PAIR2(name, pair, __hsub2, __hsub)                                         \
  TROUPE_NARROW_PAIR2(name, pair, __hmul2, __hmul)                                         \
  TROUPE_NARROW_PAIR2(name, pair, __h2div, __hdiv)                                         \
  TROUPE_NARROW_PAIR2(name, pair, __hadd2_rn, __hadd)                                      \
  TROUPE_NARROW_PAIR2(name, pair, __hsub2_rn, __hsub)                                      \
  TROUPE_NARROW_PAIR2(name, pair, __hmul2_rn, __hmul)                                      \
  TROUPE_NARROW_PAIR2(name, pair, __hadd2_sat, __hadd_sat)                                 \
  TROUPE_NARROW_PAIR2(name, pair, __hsub2_sat, __hsub_sat)                                 \
  TROUPE_NARROW_PAIR2(name, pair, __hmul2_sat, __hmul_sat)                                 \
  TROUPE_NARROW_PAIR2(name, pair, __hmax2, __hmax)                                         \
  TROUPE_NARROW_PAIR2(name, pair, __hmin2, __hmin)                                         \
  TROUPE_NARROW_PAIR2(name, pair, __hmax2_nan, __hmax_nan)                                 \
  TROUPE_NARROW_PAIR2(name, pair, __hmin2_nan, __hmin_nan)                                 \
  TROUPE_NARROW_PAIR3(name, pair, __hfma2, __hfma)                                         \
  TROUPE_NARROW_PAIR3(name, pair, __hfma2_sat, __hfma_sat)                                 \
  TROUPE_NARROW_PAIR3(name, pair, __hfma2_relu, __hfma_relu)                               \
  TROUPE_NARROW_COMPARE(name, pair, eq)                                                    \
  TROUPE_NARROW_COMPARE(name, pair, ne)                                                    \
  TROUPE_NARROW_COMPARE(name, pair, lt)                                                    \
  TROUPE_NARROW_COMPARE(name, pair, le)                                                    \
  TROUPE_NARROW_COMPARE(name, pair, gt)                                                    \
  TROUPE_NARROW_COMPARE(name, pair, ge)                                                    \
  TROUPE_INLINE pair __hneg2(pair a) { return pair(__hneg(a.x), __hneg(a.y)); }            \
  TROUPE_INLINE pair __habs2(pair a) { return pair(__habs(a.x), __habs(a.y)); }            \
  TROUPE_INLINE pair operator+(const pair& a, const pair& b) { return __hadd2(a, b); }     \
  TROUPE_INLINE pair operator-(const pair& a, const pair& b) { return __hsub2(a, b); }     \
  TROUPE_INLINE pair operator*(const pair& a, const pair& b) { return __hmul2(a, b); }     \
  TROUPE_INLINE pair operator/(const pair& a, const pair& b) { return __h2div(a, b); }     \
  TROUPE_INLINE pair& operator+=(pair& a, const pair& b) { return a = a + b; }             \
  TROUPE_INLINE pair& operator-=(pair& a, const pair& b) { return a = a - b; }             \
  TROUPE_INLINE pair& operator*=(pair& a, const pair& b) { return a = a * b; }             \
  TROUPE_INLINE pair& operator/=(pair& a, const pair& b) { return a = a / b; }             \
  TROUPE_INLINE pair operator-(const pair& a) { return __hneg2(a); }                       \
  TROUPE_INLINE bool operator==(const pair& a, const pair& b) { return __hbeq2(a, b); }    \
  TROUPE_INLINE float __low2float(pair a) { return static_cast<float>(a.x); }              \
  TROUPE_INLINE float __high2float(pair a) { return static_cast<float>(a.y); }             \
  TROUPE_INLINE name atomicAdd(name* at, name value) {                                     \
    return ::troupe_cuda::change<::troupe_cuda::device_scope>(                             \
        at, [=](name old) __attribute__((always_inline)) { return __hadd(old, value); });  \
  }                                                                                        \
  TROUPE_INLINE pair atomicAdd(pair* at, pair value) {                                     \
    return ::troupe_cuda::change<::troupe_cuda::device_scope>(                             \
        at, [=](pair old) __attribute__((always_inline)) { return __hadd2(old, value); }); \
  }

// Conversions; `word` is the type's name within function names.
#define TROUPE_NARROW_CONVERSIONS(name, pair, format, word, pair_word)                                               \
  TROUPE_INLINE name __float2##word(float x) { return name(x); }                                                     \
  TROUPE_INLINE name __float2##word##_rn(float x) { return name(x); }                                                \
  TROUPE_INLINE name __float2##word##_rz(float x) {                                                                  \
    return name::of_bits(::troupe_cuda::narrow_towards<::troupe_cuda::format>(x, 0));                                \
  }                                                                                                                  \
  TROUPE_INLINE name __float2##word##_rd(float x) {                                                                  \
    return name::of_bits(::troupe_cuda::narrow_towards<::troupe_cuda::format>(x, -1));                               \
  }                                                                                                                  \
  TROUPE_INLINE name __float2##word##_ru(float x) {                                                                  \
    return name::of_bits(::troupe_cuda::narrow_towards<::troupe_cuda::format>(x, 1));                                \
  }                                                                                                                  \
  TROUPE_INLINE name __double2##word(double x) { return name(x); }                                                   \
  TROUPE_INLINE float __##word##2float(name x) { return static_cast<float>(x); }                                     \
  TROUPE_INLINE name __int2##word##_rn(int x) { return name(x); }                                                    \
  TROUPE_INLINE name __uint2##word##_rn(unsigned x) { return name(x); }                                              \
  TROUPE_INLINE name __short2##word##_rn(short x) { return name(x); }                                                \
  TROUPE_INLINE name __ushort2##word##_rn(unsigned short x) { return name(x); }                                      \
  TROUPE_INLINE name __ll2##word##_rn(long long x) { return name(x); }                                               \
  TROUPE_INLINE name __ull2##word##_rn(unsigned long long x) { return name(x); }                                     \
  TROUPE_INLINE int __##word##2int_rn(name x) { return __float2int_rn(static_cast<float>(x)); }                      \
  TROUPE_INLINE int __##word##2int_rz(name x) { return __float2int_rz(static_cast<float>(x)); }                      \
  TROUPE_INLINE int __##word##2int_rd(name x) { return __float2int_rd(static_cast<float>(x)); }                      \
  TROUPE_INLINE int __##word##2int_ru(name x) { return __float2int_ru(static_cast<float>(x)); }                      \
  TROUPE_INLINE unsigned __##word##2uint_rn(name x) { return __float2uint_rn(static_cast<float>(x)); }               \
  TROUPE_INLINE unsigned __##word##2uint_rz(name x) { return __float2uint_rz(static_cast<float>(x)); }               \
  TROUPE_INLINE long long __##word##2ll_rn(name x) { return __float2ll_rn(static_cast<float>(x)); }                  \
  TROUPE_INLINE long long __##word##2ll_rz(name x) { return __float2ll_rz(static_cast<float>(x)); }                  \
  TROUPE_INLINE short __##word##_as_short(name x) { return static_cast<short>(x.bits); }                             \
  TROUPE_INLINE unsigned short __##word##_as_ushort(name x) { return x.bits; }                                       \
  TROUPE_INLINE name __short_as_##word(short x) { return name::of_bits(static_cast<unsigned short>(x)); }            \
  TROUPE_INLINE name __ushort_as_##word(unsigned short x) { return name::of_bits(x); }                               \
  TROUPE_INLINE pair __float2##pair_word##_rn(float x) { return pair(name(x), name(x)); }                            \
  TROUPE_INLINE pair __floats2##pair_word##_rn(float x, float y) { return pair(name(x), name(y)); }                  \
  TROUPE_INLINE pair __float22##pair_word##_rn(float2 v) { return pair(name(v.x), name(v.y)); }                      \
  TROUPE_INLINE float2 __##pair_word##2float2(pair a) { return {static_cast<float>(a.x), static_cast<float>(a.y)}; } \
  TROUPE_INLINE pair __##word##2##pair_word(name x) { return pair(x, x); }                                           \
  TROUPE_INLINE pair __halves2##pair_word(name x, name y) { return pair(x, y); }                                     \
  TROUPE_INLINE name __low2##word(pair a) { return a.x; }                                                            \
  TROUPE_INLINE name __high2##word(pair a) { return a.y; }                                                           \
  TROUPE_INLINE pair __low2##pair_word(pair a) { return pair(a.x, a.x); }                                            \
  TROUPE_INLINE pair __high2##pair_word(pair a) { return pair(a.y, a.y); }                                           \
  TROUPE_INLINE pair __lows2##pair_word(pair a, pair b) { return pair(a.x, b.x); }                                   \
  TROUPE_INLINE pair __highs2##pair_word(pair a, pair b) { return pair(a.y, b.y); }
