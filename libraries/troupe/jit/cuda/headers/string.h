// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// memcpy and memset are built into NVRTC. The others are templates, so that functions of the source with the same names
// take precedence.
#pragma once
#include "troupe_device/host_only.h"

extern "C++" {  // the #include may be inside extern "C"

template <class Anything = void>
constexpr int memcmp(const void* a, const void* b, size_t bytes) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}
template <class Anything = void>
void* memmove(void* to, const void* from, size_t bytes) {
  auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  if (t <= f) {
    for (size_t i = 0; i < bytes; ++i) t[i] = f[i];
  } else {
    for (size_t i = bytes; i > 0; --i) t[i - 1] = f[i - 1];
  }
  return to;
}
template <class Anything = void>
constexpr const void* memchr(const void* in, int wanted, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(in);
  for (size_t i = 0; i < bytes; ++i)
    if (p[i] == static_cast<unsigned char>(wanted)) return p + i;
  return nullptr;
}
template <class Anything = void>
constexpr void* memchr(void* in, int wanted, size_t bytes) {
  return const_cast<void*>(memchr(static_cast<const void*>(in), wanted, bytes));
}

template <class Anything = void>
constexpr size_t strlen(const char* text) {
  size_t n = 0;
  while (text[n] != '\0') ++n;
  return n;
}
template <class Anything = void>
constexpr size_t strnlen(const char* text, size_t most) {
  size_t n = 0;
  while (n < most && text[n] != '\0') ++n;
  return n;
}
template <class Anything = void>
constexpr int strncmp(const char* a, const char* b, size_t most) {
  for (size_t i = 0; i < most; ++i) {
    const auto x = static_cast<unsigned char>(a[i]), y = static_cast<unsigned char>(b[i]);
    if (x != y) return x < y ? -1 : 1;
    if (x == 0) return 0;
  }
  return 0;
}
template <class Anything = void>
constexpr int strcmp(const char* a, const char* b) {
  return strncmp(a, b, ~size_t{0});
}
template <class Anything = void>
constexpr char* strcpy(char* to, const char* from) {
  for (size_t i = 0; (to[i] = from[i]) != '\0';) ++i;
  return to;
}
template <class Anything = void>
constexpr char* strncpy(char* to, const char* from, size_t bytes) {
  const size_t n = strnlen(from, bytes);
  for (size_t i = 0; i < bytes; ++i) to[i] = i < n ? from[i] : '\0';
  return to;
}
template <class Anything = void>
constexpr char* strcat(char* to, const char* more) {
  strcpy(to + strlen(to), more);
  return to;
}
template <class Anything = void>
constexpr char* strncat(char* to, const char* more, size_t most) {
  const size_t end = strlen(to), n = strnlen(more, most);
  for (size_t i = 0; i < n; ++i) to[end + i] = more[i];
  to[end + n] = '\0';
  return to;
}
template <class Anything = void>
constexpr const char* strchr(const char* text, int wanted) {
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) return text;
    if (*text == '\0') return nullptr;
  }
}
template <class Anything = void>
constexpr char* strchr(char* text, int wanted) {
  return const_cast<char*>(strchr(static_cast<const char*>(text), wanted));
}
template <class Anything = void>
constexpr const char* strrchr(const char* text, int wanted) {
  const char* last = nullptr;
  for (;; ++text) {
    if (*text == static_cast<char>(wanted)) last = text;
    if (*text == '\0') return last;
  }
}
template <class Anything = void>
constexpr char* strrchr(char* text, int wanted) {
  return const_cast<char*>(strrchr(static_cast<const char*>(text), wanted));
}
template <class Anything = void>
constexpr const char* strstr(const char* text, const char* wanted) {
  const size_t n = strlen(wanted);
  for (;; ++text) {
    if (strncmp(text, wanted, n) == 0) return text;
    if (*text == '\0') return nullptr;
  }
}
template <class Anything = void>
constexpr char* strstr(char* text, const char* wanted) {
  return const_cast<char*>(strstr(static_cast<const char*>(text), wanted));
}
template <class Anything = void>
constexpr size_t strspn(const char* text, const char* set) {
  size_t n = 0;
  while (text[n] != '\0' && strchr(set, text[n]) != nullptr) ++n;
  return n;
}
template <class Anything = void>
constexpr size_t strcspn(const char* text, const char* set) {
  size_t n = 0;
  while (text[n] != '\0' && strchr(set, text[n]) == nullptr) ++n;
  return n;
}

TROUPE_HOST_FUNCTION(char*, strdup, const char*)
TROUPE_HOST_FUNCTION(char*, strerror, int)
TROUPE_HOST_FUNCTION(char*, strtok, char*, const char*)

}  // extern "C++"
