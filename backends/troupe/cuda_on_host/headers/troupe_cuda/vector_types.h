// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// char1 ... double4 and dim3, and the functions that make them.
#pragma once
#pragma GCC system_header

#define TROUPE_VECTORS(name, element, align2, align4)                                            \
  struct name##1 { element x; };                                                                 \
  struct alignas(align2) name##2 { element x, y; };                                              \
  struct name##3 { element x, y, z; };                                                           \
  struct alignas(align4) name##4 { element x, y, z, w; };                                        \
  inline constexpr name##1 make_##name##1(element x) { return {x}; }                             \
  inline constexpr name##2 make_##name##2(element x, element y) { return {x, y}; }               \
  inline constexpr name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; } \
  inline constexpr name##4 make_##name##4(element x, element y, element z, element w) { return {x, y, z, w}; }

TROUPE_VECTORS(char, signed char, 2, 4)
TROUPE_VECTORS(uchar, unsigned char, 2, 4)
TROUPE_VECTORS(short, short, 4, 8)
TROUPE_VECTORS(ushort, unsigned short, 4, 8)
TROUPE_VECTORS(int, int, 8, 16)
TROUPE_VECTORS(uint, unsigned int, 8, 16)
TROUPE_VECTORS(long, long, 16, 16)
TROUPE_VECTORS(ulong, unsigned long, 16, 16)
TROUPE_VECTORS(longlong, long long, 16, 16)
TROUPE_VECTORS(ulonglong, unsigned long long, 16, 16)
TROUPE_VECTORS(float, float, 8, 16)
TROUPE_VECTORS(double, double, 16, 16)
#undef TROUPE_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

constexpr int warpSize = 32;
