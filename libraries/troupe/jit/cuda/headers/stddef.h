// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// size_t, ptrdiff_t, wchar_t and NULL are built into NVRTC.
typedef decltype(nullptr) nullptr_t;
struct alignas(16) max_align_t {
  long long whole;
  double real;
};

#ifndef offsetof
// The only form of this address that the compiler accepts as a constant.
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type*)0)->member)))
#endif
