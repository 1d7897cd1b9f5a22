// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Vectors for the instruction set of the source that includes this. small_gemm.hpp says what must not be defined here.
#include <cstdint>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#define TROUPE_ALWAYS_INLINE inline __attribute__((always_inline))
#ifdef __clang__
#define TROUPE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TROUPE_UNROLL _Pragma("GCC unroll 16")
#endif

namespace troupe::blas {
namespace {

template <class T, int Bytes>
struct vector_type {
  typedef T type __attribute__((vector_size(Bytes)));  // NOLINT(modernize-use-using): the attribute needs it
};
template <class T, int Bytes>
using vec = typename vector_type<T, Bytes>::type;
template <class T, int Bytes>
constexpr int lanes = Bytes / static_cast<int>(sizeof(T));

template <class T, int Bytes>
TROUPE_ALWAYS_INLINE vec<T, Bytes> load_all(const T* from) noexcept {
  vec<T, Bytes> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class T, int Bytes>
TROUPE_ALWAYS_INLINE void store_all(T* to, const vec<T, Bytes>& v) noexcept {
  __builtin_memcpy(to, &v, sizeof v);
}

// Loads and stores the first `count` lanes of a vector. Touches no other memory; lanes that are not loaded are 0.
template <class T, int Bytes>
struct first_lanes {
  static_assert(lanes<T, Bytes> == 2 || lanes<T, Bytes> == 4);
  std::int64_t count;

  explicit TROUPE_ALWAYS_INLINE first_lanes(std::int64_t n) noexcept : count(n) {}
  TROUPE_ALWAYS_INLINE vec<T, Bytes> load(const T* from) const noexcept {
    if (count == lanes<T, Bytes>) return load_all<T, Bytes>(from);
    if (count == 1) return vec<T, Bytes>{from[0]};
    if constexpr (lanes<T, Bytes> == 4) {
      if (count == 2) return vec<T, Bytes>{from[0], from[1]};
      return vec<T, Bytes>{from[0], from[1], from[2]};
    }
    __builtin_unreachable();
  }
  TROUPE_ALWAYS_INLINE void store(T* to, const vec<T, Bytes>& v) const noexcept {
    if (count == lanes<T, Bytes>) return store_all<T, Bytes>(to, v);
    to[0] = v[0];
    if constexpr (lanes<T, Bytes> == 4) {
      if (count > 1) to[1] = v[1];
      if (count > 2) to[2] = v[2];
    }
  }
};

#if defined(__AVX512F__)

template <int Lanes>
struct mask_of {
  using type = __mmask8;
};
template <>
struct mask_of<16> {
  using type = __mmask16;
};

template <class T, int Bytes>
struct masked_lanes {
  using mask_type = typename mask_of<lanes<T, Bytes>>::type;
  mask_type mask;

  explicit TROUPE_ALWAYS_INLINE masked_lanes(std::int64_t n) noexcept : mask(static_cast<mask_type>((1u << n) - 1)) {}
  TROUPE_ALWAYS_INLINE vec<T, Bytes> load(const T* from) const noexcept {
    if constexpr (sizeof(T) == 4) {
      if constexpr (Bytes == 64) return vec<T, Bytes>(_mm512_maskz_loadu_ps(mask, from));
      if constexpr (Bytes == 32) return vec<T, Bytes>(_mm256_maskz_loadu_ps(mask, from));
      if constexpr (Bytes == 16) return vec<T, Bytes>(_mm_maskz_loadu_ps(mask, from));
    } else {
      if constexpr (Bytes == 64) return vec<T, Bytes>(_mm512_maskz_loadu_pd(mask, from));
      if constexpr (Bytes == 32) return vec<T, Bytes>(_mm256_maskz_loadu_pd(mask, from));
      if constexpr (Bytes == 16) return vec<T, Bytes>(_mm_maskz_loadu_pd(mask, from));
    }
  }
  TROUPE_ALWAYS_INLINE void store(T* to, const vec<T, Bytes>& v) const noexcept {
    if constexpr (sizeof(T) == 4) {
      if constexpr (Bytes == 64) _mm512_mask_storeu_ps(to, mask, v);
      if constexpr (Bytes == 32) _mm256_mask_storeu_ps(to, mask, v);
      if constexpr (Bytes == 16) _mm_mask_storeu_ps(to, mask, v);
    } else {
      if constexpr (Bytes == 64) _mm512_mask_storeu_pd(to, mask, v);
      if constexpr (Bytes == 32) _mm256_mask_storeu_pd(to, mask, v);
      if constexpr (Bytes == 16) _mm_mask_storeu_pd(to, mask, v);
    }
  }
};
template <int Bytes>
struct first_lanes<float, Bytes> : masked_lanes<float, Bytes> {
  using masked_lanes<float, Bytes>::masked_lanes;
};
template <int Bytes>
struct first_lanes<double, Bytes> : masked_lanes<double, Bytes> {
  using masked_lanes<double, Bytes>::masked_lanes;
};

#elif defined(__AVX2__)

// A load that starts within this array yields a mask with the wanted number of ones.
alignas(64) constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

// Masked stores are slow on some processors with AVX2, so a partial vector is stored in pieces.
template <>
struct first_lanes<float, 32> {
  std::int64_t count;
  __m256i mask;

  explicit TROUPE_ALWAYS_INLINE first_lanes(std::int64_t n) noexcept
      : count(n), mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - n))) {}
  TROUPE_ALWAYS_INLINE vec<float, 32> load(const float* from) const noexcept {
    return vec<float, 32>(_mm256_maskload_ps(from, mask));
  }
  TROUPE_ALWAYS_INLINE void store(float* to, const vec<float, 32>& v) const noexcept {
    if (count == 8) return store_all<float, 32>(to, v);
    __m128 rest = _mm256_castps256_ps128(v);
    if ((count & 4) != 0) {
      _mm_storeu_ps(to, rest);
      rest = _mm256_extractf128_ps(v, 1);
      to += 4;
    }
    if ((count & 2) != 0) {
      _mm_storel_pi(reinterpret_cast<__m64*>(to), rest);
      rest = _mm_movehl_ps(rest, rest);
      to += 2;
    }
    if ((count & 1) != 0) _mm_store_ss(to, rest);
  }
};
template <>
struct first_lanes<double, 32> {
  std::int64_t count;
  __m256i mask;

  explicit TROUPE_ALWAYS_INLINE first_lanes(std::int64_t n) noexcept
      : count(n), mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - 2 * n))) {}
  TROUPE_ALWAYS_INLINE vec<double, 32> load(const double* from) const noexcept {
    return vec<double, 32>(_mm256_maskload_pd(from, mask));
  }
  TROUPE_ALWAYS_INLINE void store(double* to, const vec<double, 32>& v) const noexcept {
    if (count == 4) return store_all<double, 32>(to, v);
    __m128d rest = _mm256_castpd256_pd128(v);
    if ((count & 2) != 0) {
      _mm_storeu_pd(to, rest);
      rest = _mm256_extractf128_pd(v, 1);
      to += 2;
    }
    if ((count & 1) != 0) _mm_store_sd(to, rest);
  }
};

#endif

// Swaps the lanes of `low` whose index has this bit with the lanes of `high` whose index does not.
template <int Bit, int... Lane>
struct lane_numbers {};
template <class T, int Bytes, int Bit, int... Lane>
TROUPE_ALWAYS_INLINE void swap_lanes(vec<T, Bytes>& low, vec<T, Bytes>& high, lane_numbers<Bit, Lane...>) noexcept {
  constexpr int all = lanes<T, Bytes>;
  const vec<T, Bytes> a = low, b = high;
  low = __builtin_shufflevector(a, b, ((Lane & Bit) != 0 ? all + Lane - Bit : Lane)...);
  high = __builtin_shufflevector(a, b, ((Lane & Bit) != 0 ? all + Lane : Lane + Bit)...);
}
template <class T, int Bytes, int Bit>
TROUPE_ALWAYS_INLINE void swap_lanes(vec<T, Bytes>& low, vec<T, Bytes>& high) noexcept {
  if constexpr (lanes<T, Bytes> == 2)
    swap_lanes<T, Bytes>(low, high, lane_numbers<Bit, 0, 1>{});
  else if constexpr (lanes<T, Bytes> == 4)
    swap_lanes<T, Bytes>(low, high, lane_numbers<Bit, 0, 1, 2, 3>{});
  else if constexpr (lanes<T, Bytes> == 8)
    swap_lanes<T, Bytes>(low, high, lane_numbers<Bit, 0, 1, 2, 3, 4, 5, 6, 7>{});
  else
    swap_lanes<T, Bytes>(low, high, lane_numbers<Bit, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>{});
}

// Transposes each of the adjacent Rows x Rows squares in these rows.
template <class T, int Bytes, int Rows, int Bit = 1>
TROUPE_ALWAYS_INLINE void transpose_squares(vec<T, Bytes>* rows) noexcept {
  if constexpr (Bit < Rows) {
    TROUPE_UNROLL for (int i = 0; i < Rows; ++i) if ((i & Bit) == 0) swap_lanes<T, Bytes, Bit>(rows[i], rows[i + Bit]);
    transpose_squares<T, Bytes, Rows, 2 * Bit>(rows);
  }
}

}  // namespace
}  // namespace troupe::blas
