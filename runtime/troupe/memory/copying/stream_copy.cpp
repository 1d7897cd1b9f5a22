// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <troupe/memory/copying/stream_copy.hpp>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace troupe {

#if defined(__x86_64__)
namespace {

constexpr std::size_t line = 64;

// Both functions copy whole cache lines; `to` is aligned to one.
void lines_by_16(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += line) {
    __m128i part[4];
    for (int k = 0; k < 4; ++k) part[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i) + k);
    for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to + i) + k, part[k]);
  }
}
// A fifth faster on one core; wider registers are no faster.
__attribute__((target("avx"))) void lines_by_32(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += line) {
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i) + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), first);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i) + 1, second);
  }
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  static const bool has_avx = __builtin_cpu_supports("avx");
  if (bytes < 16 * line) {
    std::memcpy(to, from, bytes);
    return;
  }
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  const std::size_t whole = bytes / line * line;
  (has_avx ? lines_by_32 : lines_by_16)(to, from, whole);
  std::memcpy(to + whole, from + whole, bytes - whole);
  // Streaming stores are not ordered with other stores: without the fence, a thread that learns that the copy is
  // complete might not see the data.
  _mm_sfence();
}
#else
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
#endif

}  // namespace troupe
