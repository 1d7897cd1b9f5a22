// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/numbers/convert.hpp>
#include <troupe/base/text/cat.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace troupe::detail {

error unequal_spans(std::size_t from, std::size_t to) {
  return error(reaction::caller_bug, "base",
               cat("convert: `from` has ", counted(from, "element", "elements"), " and `to` has ", to,
                   "; expected spans of equal length"));
}

namespace {

#if defined(__x86_64__)

bool has_f16c() noexcept {
  static const bool yes = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  return yes;
}

// Both functions return the number of converted elements; fewer than eight remain.
__attribute__((target("avx,f16c"))) std::size_t by_eights(const float* from, half* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i codes = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), codes);
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t by_eights(const half* from, float* to, std::size_t count) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(codes));
  }
  return i;
}

#else

bool has_f16c() noexcept { return false; }
std::size_t by_eights(const float*, half*, std::size_t) noexcept { return 0; }
std::size_t by_eights(const half*, float*, std::size_t) noexcept { return 0; }

#endif

template <class From, class To>
void convert_all(const From* from, To* to, std::size_t count) noexcept {
  for (std::size_t i = has_f16c() ? by_eights(from, to, count) : 0; i < count; ++i) to[i] = To(from[i]);
}

}  // namespace

void convert_elements(const float* from, half* to, std::size_t count) noexcept { convert_all(from, to, count); }
void convert_elements(const half* from, float* to, std::size_t count) noexcept { convert_all(from, to, count); }

}  // namespace troupe::detail
