// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ctype.h"
#include "string.h"

extern "C++" {  // the #include may be inside extern "C"

template <class Anything = void>
constexpr int strncasecmp(const char* a, const char* b, size_t most) {
  for (size_t i = 0; i < most; ++i) {
    const int x = tolower(static_cast<unsigned char>(a[i])), y = tolower(static_cast<unsigned char>(b[i]));
    if (x != y) return x < y ? -1 : 1;
    if (x == 0) return 0;
  }
  return 0;
}
template <class Anything = void>
constexpr int strcasecmp(const char* a, const char* b) {
  return strncasecmp(a, b, ~size_t{0});
}
template <class Anything = void>
void bzero(void* at, size_t bytes) {
  memset(at, 0, bytes);
}

}  // extern "C++"
