// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <troupe/memory/stream_copy.hpp>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace troupe {

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (bytes < 16 * line) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, head);
  to += head, from += head, bytes -= head;
  const std::size_t whole = bytes / line * line;
  for (std::size_t i = 0; i < whole; i += line) {
    __m128i part[4];
    for (int k = 0; k < 4; ++k) part[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i) + k);
    for (int k = 0; k < 4; ++k) _mm_stream_si128(reinterpret_cast<__m128i*>(to + i) + k, part[k]);
  }
  std::memcpy(to + whole, from + whole, bytes - whole);
  // Streaming stores are not ordered with others. A thread that learns afterwards that the data are complete must see
  // them.
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace troupe
