// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <troupe/base/bfloat16.hpp>
#include <troupe/base/dtype.hpp>
#include <troupe/base/float4.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/base/float8_e8m0.hpp>
#include <troupe/base/half.hpp>
#include <troupe/epilogue/host_device.hpp>
#include <type_traits>

/// Reads, writes and rounds real numbers of a type that is known at run time.
namespace troupe::epilogue {

/// A truth value in memory, written as byte 1 for true and 0 for false. Any other byte is read as true.
struct stored_bool {
  std::uint8_t byte;

  template <class N>
  TROUPE_HOST_DEVICE explicit operator N() const noexcept {
    return byte != 0 ? N(1) : N(0);
  }
};

/// Calls `f(T{})`, where T is the C++ type of elements of type `t`, and returns true. Returns false, without a call, if
/// an element is no real number: complex types, and types that pack two numbers in a byte.
TROUPE_FOR_ANY_CALLABLE
template <class F>
TROUPE_HOST_DEVICE bool with_real_type(dtype t, F&& f) {
  switch (t) {
    case dtype::f16:
      return f(half{}), true;
    case dtype::bf16:
      return f(bfloat16{}), true;
    case dtype::f8e4m3:
      return f(float8_e4m3{}), true;
    case dtype::f8e5m2:
      return f(float8_e5m2{}), true;
    case dtype::f8e8m0:
      return f(float8_e8m0{}), true;
    case dtype::f4e2m1:
      return f(float4_e2m1{}), true;
    case dtype::f32:
      return f(float{}), true;
    case dtype::f64:
      return f(double{}), true;
    case dtype::i8:
      return f(std::int8_t{}), true;
    case dtype::u8:
      return f(std::uint8_t{}), true;
    case dtype::boolean:
      return f(stored_bool{}), true;
    case dtype::i16:
      return f(std::int16_t{}), true;
    case dtype::u16:
      return f(std::uint16_t{}), true;
    case dtype::i32:
      return f(std::int32_t{}), true;
    case dtype::u32:
      return f(std::uint32_t{}), true;
    case dtype::i64:
      return f(std::int64_t{}), true;
    case dtype::u64:
      return f(std::uint64_t{}), true;
    default:
      return false;
  }
}
/// Returns true if each element of the type is one real number.
inline bool is_real(dtype t) noexcept {
  return with_real_type(t, [](auto) {});
}

constexpr bool is_complex(dtype t) noexcept { return t == dtype::c64 || t == dtype::c128; }

/// Rounds x to T, as `convert` and the final store of a result do. As a truth value, only 0 is false; NaN is true.
template <class T, class N>
TROUPE_HOST_DEVICE T rounded_to(N x) noexcept {
  if constexpr (std::is_same_v<T, stored_bool>) {
    return {static_cast<std::uint8_t>(x != 0)};
  } else if constexpr (std::is_integral_v<T>) {
    if (std::isnan(x)) return 0;
    const N nearest = std::nearbyint(x);
    // Compares with a power of two, because the largest 64-bit integer is not a floating-point number.
    const N end = std::ldexp(N(1), std::numeric_limits<T>::digits);
    if (nearest >= end) return std::numeric_limits<T>::max();
    if (nearest < static_cast<N>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(nearest);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(x);
  } else {
    return T::convert(x, sizeof(T) == 1 ? on_overflow::saturate : on_overflow::standard);
  }
}

/// Reads an element. Precondition: the type is real.
inline double number_at(const void* place, dtype t) noexcept {
  double out = 0;
  with_real_type(t, [&](auto x) {
    std::memcpy(&x, place, sizeof x);
    out = static_cast<double>(x);
  });
  return out;
}
/// Rounds a number to the type and writes it. Precondition: the type is real.
inline void put_number(void* place, dtype t, double value) noexcept {
  with_real_type(t, [&](auto x) {
    x = rounded_to<decltype(x)>(value);
    std::memcpy(place, &x, sizeof x);
  });
}
/// Returns the value that the type has nearest to `value`.
inline double nearest_of(dtype t, double value) noexcept {
  with_real_type(t, [&](auto x) { value = static_cast<double>(rounded_to<decltype(x)>(value)); });
  return value;
}

}  // namespace troupe::epilogue
