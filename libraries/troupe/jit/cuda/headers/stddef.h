// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// size_t, ptrdiff_t, wchar_t and NULL are NVRTC's own.
typedef decltype(nullptr) nullptr_t;
struct alignas(16) max_align_t {
  long long whole;
  double real;
};

#ifndef offsetof
// The one way to an address that is a constant for the compiler.
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type*)0)->member)))
#endif
