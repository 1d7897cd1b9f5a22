// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace troupe {

struct half;
struct bfloat16;
struct float8_e4m3;
struct float8_e5m2;
struct float8_e8m0;
struct float4_e2m1;
struct float4_e2m1x2;
template <class T>
struct basic_complex;

/// The type of a buffer's elements, as a value. The numbers are sent between processes and stored in files: add new
/// types at the end and never reorder. Zero names no type, so that zeroed memory is not mistaken for one.
enum class dtype : std::uint8_t {
  f16 = 1,   ///< half
  bf16,      ///< bfloat16
  f8e4m3,    ///< float8_e4m3
  f8e5m2,    ///< float8_e5m2
  f8e8m0,    ///< float8_e8m0
  f4e2m1,    ///< float4_e2m1: one number in a byte
  f4e2m1x2,  ///< float4_e2m1x2: two numbers in a byte
  f32,
  f64,
  c64,   ///< complex64
  c128,  ///< complex128
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean,  ///< its name is "bool"
  c32,      ///< complex_half
  cbf16,    ///< complex_bfloat16
};

enum class dtype_kind : std::uint8_t { floating, scale, complex, signed_integer, unsigned_integer, boolean };

/// Name, size and kind of an element type.
struct dtype_info {
  std::string_view name;
  std::size_t bytes;  ///< sizeof the C++ type
  dtype_kind kind;
};

inline constexpr dtype_info dtype_table[] = {
    {"unknown", 0, dtype_kind::boolean},    {"f16", 2, dtype_kind::floating},
    {"bf16", 2, dtype_kind::floating},      {"f8e4m3", 1, dtype_kind::floating},
    {"f8e5m2", 1, dtype_kind::floating},    {"f8e8m0", 1, dtype_kind::scale},
    {"f4e2m1", 1, dtype_kind::floating},    {"f4e2m1x2", 1, dtype_kind::floating},
    {"f32", 4, dtype_kind::floating},       {"f64", 8, dtype_kind::floating},
    {"c64", 8, dtype_kind::complex},        {"c128", 16, dtype_kind::complex},
    {"i8", 1, dtype_kind::signed_integer},  {"u8", 1, dtype_kind::unsigned_integer},
    {"i16", 2, dtype_kind::signed_integer}, {"u16", 2, dtype_kind::unsigned_integer},
    {"i32", 4, dtype_kind::signed_integer}, {"u32", 4, dtype_kind::unsigned_integer},
    {"i64", 8, dtype_kind::signed_integer}, {"u64", 8, dtype_kind::unsigned_integer},
    {"bool", 1, dtype_kind::boolean},       {"c32", 4, dtype_kind::complex},
    {"cbf16", 4, dtype_kind::complex},
};

/// Returns true if the value, which can come from another process, names a type.
constexpr bool is_known(dtype t) noexcept {
  return t != dtype{} && static_cast<std::size_t>(t) < std::size(dtype_table);
}

/// Returns "unknown" and 0 bytes for a value that names no type.
constexpr const dtype_info& info(dtype t) noexcept {
  return dtype_table[is_known(t) ? static_cast<std::size_t>(t) : 0];
}
constexpr std::string_view to_string(dtype t) noexcept { return info(t).name; }
constexpr std::size_t bytes_of(dtype t) noexcept { return info(t).bytes; }

/// The dtype of a C++ type; specialized for every type that buffers can hold. Read it through `dtype_of`.
template <class T>
struct dtype_traits {};
template <dtype Value>
struct dtype_is {
  static constexpr dtype value = Value;
};
#define TROUPE_DTYPE(TYPE, NAME) \
  template <>                    \
  struct dtype_traits<TYPE> : dtype_is<dtype::NAME> {};
TROUPE_DTYPE(half, f16)
TROUPE_DTYPE(bfloat16, bf16)
TROUPE_DTYPE(float8_e4m3, f8e4m3)
TROUPE_DTYPE(float8_e5m2, f8e5m2)
TROUPE_DTYPE(float8_e8m0, f8e8m0)
TROUPE_DTYPE(float4_e2m1, f4e2m1)
TROUPE_DTYPE(float4_e2m1x2, f4e2m1x2)
TROUPE_DTYPE(float, f32)
TROUPE_DTYPE(double, f64)
TROUPE_DTYPE(basic_complex<float>, c64)
TROUPE_DTYPE(basic_complex<double>, c128)
TROUPE_DTYPE(basic_complex<half>, c32)
TROUPE_DTYPE(basic_complex<bfloat16>, cbf16)
TROUPE_DTYPE(signed char, i8)
TROUPE_DTYPE(unsigned char, u8)
TROUPE_DTYPE(std::byte, u8)
TROUPE_DTYPE(short, i16)
TROUPE_DTYPE(unsigned short, u16)
TROUPE_DTYPE(int, i32)
TROUPE_DTYPE(unsigned, u32)
TROUPE_DTYPE(long, i64)
TROUPE_DTYPE(unsigned long, u64)
TROUPE_DTYPE(long long, i64)
TROUPE_DTYPE(unsigned long long, u64)
TROUPE_DTYPE(bool, boolean)
#undef TROUPE_DTYPE

/// A type that a buffer can hold.
template <class T>
concept element = requires { dtype_traits<std::remove_cv_t<T>>::value; };

/// The dtype of a C++ type: `dtype_of<half> == dtype::f16`.
template <element T>
inline constexpr dtype dtype_of = dtype_traits<std::remove_cv_t<T>>::value;

}  // namespace troupe
