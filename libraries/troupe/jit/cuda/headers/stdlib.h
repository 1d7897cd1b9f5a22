// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// malloc and free, on the GPU's heap, and abs, labs and llabs are built into NVRTC.
#pragma once
#include "stddef.h"
#include "troupe_device/host_only.h"

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
#define MB_CUR_MAX 1

extern "C++" {  // the #include may be inside extern "C"

#define TROUPE_DIVISION(number, type, name)                          \
  struct type {                                                      \
    number quot, rem;                                                \
  };                                                                 \
  template <class Anything = void>                                   \
  constexpr type name(number a, number b) {                          \
    return {static_cast<number>(a / b), static_cast<number>(a % b)}; \
  }
TROUPE_DIVISION(int, div_t, div)
TROUPE_DIVISION(long, ldiv_t, ldiv)
TROUPE_DIVISION(long long, lldiv_t, lldiv)
#undef TROUPE_DIVISION
template <class Anything = void>
constexpr ldiv_t div(long a, long b) {
  return ldiv(a, b);
}
template <class Anything = void>
constexpr lldiv_t div(long long a, long long b) {
  return lldiv(a, b);
}

template <class Anything = void>
void* calloc(size_t count, size_t bytes) {
  if (bytes != 0 && count > ~size_t{0} / bytes) return nullptr;
  void* const out = malloc(count * bytes);
  return out == nullptr ? nullptr : memset(out, 0, count * bytes);
}

template <class Anything = void>
constexpr long long atoll(const char* text) {
  while (*text == ' ' || (*text >= '\t' && *text <= '\r')) ++text;
  const bool negative = *text == '-';
  if (*text == '-' || *text == '+') ++text;
  long long out = 0;
  for (; *text >= '0' && *text <= '9'; ++text) out = 10 * out - (*text - '0');
  return negative ? out : -out;
}
template <class Anything = void>
constexpr long atol(const char* text) {
  return static_cast<long>(atoll(text));
}
template <class Anything = void>
constexpr int atoi(const char* text) {
  return static_cast<int>(atoll(text));
}

template <class Anything = void>
[[noreturn]] void exit(int, TROUPE_HOST_CALL) {
  ::troupe_device::end_as_host_only<Anything>("exit", file, line);
}
template <class Anything = void>
[[noreturn]] void abort(TROUPE_HOST_CALL) {
  ::troupe_device::end_as_host_only<Anything>("abort", file, line);
}
template <class Anything = void>
[[noreturn]] void _Exit(int, TROUPE_HOST_CALL) {
  ::troupe_device::end_as_host_only<Anything>("_Exit", file, line);
}
template <class Anything = void>
[[noreturn]] void quick_exit(int, TROUPE_HOST_CALL) {
  ::troupe_device::end_as_host_only<Anything>("quick_exit", file, line);
}
TROUPE_HOST_FUNCTION(int, atexit, void (*)())
TROUPE_HOST_FUNCTION(void*, realloc, void*, size_t)
TROUPE_HOST_FUNCTION(void*, aligned_alloc, size_t, size_t)
TROUPE_HOST_FUNCTION(int, posix_memalign, void**, size_t, size_t)
TROUPE_HOST_FUNCTION_0(int, rand)
TROUPE_HOST_FUNCTION(void, srand, unsigned)
TROUPE_HOST_FUNCTION_0(double, drand48)
TROUPE_HOST_FUNCTION(void, srand48, long)
TROUPE_HOST_FUNCTION_0(long, random)
TROUPE_HOST_FUNCTION(void, srandom, unsigned)
TROUPE_HOST_FUNCTION(char*, getenv, const char*)
TROUPE_HOST_FUNCTION(int, system, const char*)
TROUPE_HOST_FUNCTION(double, atof, const char*)
TROUPE_HOST_FUNCTION(double, strtod, const char*, char**)
TROUPE_HOST_FUNCTION(float, strtof, const char*, char**)
TROUPE_HOST_FUNCTION(long, strtol, const char*, char**, int)
TROUPE_HOST_FUNCTION(long long, strtoll, const char*, char**, int)
TROUPE_HOST_FUNCTION(unsigned long, strtoul, const char*, char**, int)
TROUPE_HOST_FUNCTION(unsigned long long, strtoull, const char*, char**, int)
TROUPE_HOST_FUNCTION(void, qsort, void*, size_t, size_t, int (*)(const void*, const void*))
TROUPE_HOST_FUNCTION(void*, bsearch, const void*, const void*, size_t, size_t, int (*)(const void*, const void*))

}  // extern "C++"
