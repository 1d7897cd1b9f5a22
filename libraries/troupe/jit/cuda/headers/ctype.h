// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Classifies characters as in the C locale.
#pragma once

extern "C++" {  // the #include may be inside extern "C"

template <class Anything = void>
constexpr int isdigit(int c) {
  return c >= '0' && c <= '9';
}
template <class Anything = void>
constexpr int islower(int c) {
  return c >= 'a' && c <= 'z';
}
template <class Anything = void>
constexpr int isupper(int c) {
  return c >= 'A' && c <= 'Z';
}
template <class Anything = void>
constexpr int isalpha(int c) {
  return islower(c) || isupper(c);
}
template <class Anything = void>
constexpr int isalnum(int c) {
  return isalpha(c) || isdigit(c);
}
template <class Anything = void>
constexpr int isxdigit(int c) {
  return isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
template <class Anything = void>
constexpr int isblank(int c) {
  return c == ' ' || c == '\t';
}
template <class Anything = void>
constexpr int isspace(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
template <class Anything = void>
constexpr int iscntrl(int c) {
  return (c >= 0 && c < ' ') || c == 127;
}
template <class Anything = void>
constexpr int isprint(int c) {
  return c >= ' ' && c < 127;
}
template <class Anything = void>
constexpr int isgraph(int c) {
  return c > ' ' && c < 127;
}
template <class Anything = void>
constexpr int ispunct(int c) {
  return isgraph(c) && !isalnum(c);
}
template <class Anything = void>
constexpr int tolower(int c) {
  return isupper(c) ? c - 'A' + 'a' : c;
}
template <class Anything = void>
constexpr int toupper(int c) {
  return islower(c) ? c - 'a' + 'A' : c;
}

}  // extern "C++"
