// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations on two halves or four bytes of a word at once.
#pragma once
#pragma GCC system_header

namespace troupe_cuda {

// Calls f for each pair of parts of two words. f receives signed values if T is signed, and its result is truncated to
// the part.
template <class T, class F>
TROUPE_INLINE unsigned by_parts(unsigned a, unsigned b, const F& f) {
  constexpr unsigned bits = 8 * sizeof(T), mask = (1u << bits) - 1;
  unsigned out = 0;
  for (unsigned at = 0; at < 32; at += bits)
    out |= (static_cast<unsigned>(
                f(static_cast<int>(static_cast<T>(a >> at)), static_cast<int>(static_cast<T>(b >> at)))) &
            mask)
           << at;
  return out;
}

template <class T>
TROUPE_INLINE int clamped(int x) {
  constexpr int lowest = T(-1) < T(0) ? -(1 << (8 * sizeof(T) - 1)) : 0, highest = lowest + (1 << 8 * sizeof(T)) - 1;
  return x < lowest ? lowest : x > highest ? highest : x;
}

}  // namespace troupe_cuda

#define TROUPE_PARTS(name, type, expression)                                                             \
  TROUPE_INLINE unsigned name(unsigned a, unsigned b) {                                                  \
    return ::troupe_cuda::by_parts<type>(                                                                \
        a, b, [](int x, int y) __attribute__((always_inline)) { return static_cast<int>(expression); }); \
  }
#define TROUPE_PARTS_OF(n, s, u)                                           \
  TROUPE_PARTS(__vadd##n, u, x + y)                                        \
  TROUPE_PARTS(__vsub##n, u, x - y)                                        \
  TROUPE_PARTS(__vaddss##n, s, ::troupe_cuda::clamped<s>(x + y))           \
  TROUPE_PARTS(__vsubss##n, s, ::troupe_cuda::clamped<s>(x - y))           \
  TROUPE_PARTS(__vaddus##n, u, ::troupe_cuda::clamped<u>(x + y))           \
  TROUPE_PARTS(__vsubus##n, u, ::troupe_cuda::clamped<u>(x - y))           \
  TROUPE_PARTS(__vmaxs##n, s, x < y ? y : x)                               \
  TROUPE_PARTS(__vmaxu##n, u, x < y ? y : x)                               \
  TROUPE_PARTS(__vmins##n, s, x < y ? x : y)                               \
  TROUPE_PARTS(__vminu##n, u, x < y ? x : y)                               \
  TROUPE_PARTS(__vabsdiffs##n, s, x < y ? y - x : x - y)                   \
  TROUPE_PARTS(__vabsdiffu##n, u, x < y ? y - x : x - y)                   \
  TROUPE_PARTS(__vcmpeq##n, u, x == y ? -1 : 0)                            \
  TROUPE_PARTS(__vcmpne##n, u, x != y ? -1 : 0)                            \
  TROUPE_PARTS(__vcmpgts##n, s, x > y ? -1 : 0)                            \
  TROUPE_PARTS(__vcmpgtu##n, u, x > y ? -1 : 0)                            \
  TROUPE_PARTS(__vcmpges##n, s, x >= y ? -1 : 0)                           \
  TROUPE_PARTS(__vcmpgeu##n, u, x >= y ? -1 : 0)                           \
  TROUPE_PARTS(__vcmplts##n, s, x < y ? -1 : 0)                            \
  TROUPE_PARTS(__vcmpltu##n, u, x < y ? -1 : 0)                            \
  TROUPE_PARTS(__vcmples##n, s, x <= y ? -1 : 0)                           \
  TROUPE_PARTS(__vcmpleu##n, u, x <= y ? -1 : 0)                           \
  TROUPE_INLINE unsigned __vneg##n(unsigned a) { return __vsub##n(0, a); } \
  TROUPE_INLINE unsigned __vabs##n(unsigned a) { return __vabsdiffs##n(a, 0); }
TROUPE_PARTS_OF(2, short, unsigned short)
TROUPE_PARTS_OF(4, signed char, unsigned char)
#undef TROUPE_PARTS_OF
#undef TROUPE_PARTS
