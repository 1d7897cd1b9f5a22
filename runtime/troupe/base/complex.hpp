// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <concepts>
#include <type_traits>

namespace troupe {

/// A complex type of another library (`std::complex<T>`, `cuda::std::complex<T>` ...) with parts of type `T`.
template <class C, class T>
concept complex_like =
    std::same_as<typename C::value_type, T> && std::is_constructible_v<C, T, T> && requires(const C& z) {
      { z.real() } -> std::convertible_to<T>;
      { z.imag() } -> std::convertible_to<T>;
    };

/// A complex number as it is stored in buffers: the real part, then the imaginary part, like `std::complex<T>`,
/// `cuComplex` and `float[2]`. It has no arithmetic; it converts implicitly to `std::complex<T>` and back. A
/// default-initialized one is uninitialized; `complex64{}` is zero.
template <class T>
struct basic_complex {
  T real;
  T imag;

  constexpr basic_complex() noexcept = default;
  constexpr basic_complex(T real_part, T imag_part = T{}) noexcept : real(real_part), imag(imag_part) {}
  template <complex_like<T> C>
  constexpr basic_complex(const C& z) noexcept : real(z.real()), imag(z.imag()) {}
  /// Converts between precisions. Explicit if the conversion may round.
  template <class U>
    requires(!std::same_as<T, U>)
  constexpr explicit(sizeof(U) > sizeof(T)) basic_complex(const basic_complex<U>& z) noexcept
      : real(static_cast<T>(z.real)), imag(static_cast<T>(z.imag)) {}

  template <complex_like<T> C>
  constexpr operator C() const noexcept {
    return C(real, imag);
  }

  friend constexpr bool operator==(const basic_complex&, const basic_complex&) noexcept = default;
};

using complex64 = basic_complex<float>;
using complex128 = basic_complex<double>;
/// To use complex numbers of these types, include <troupe/base/half.hpp> or <troupe/base/bfloat16.hpp>.
struct half;
struct bfloat16;
using complex_half = basic_complex<half>;
using complex_bfloat16 = basic_complex<bfloat16>;

namespace detail {
template <class T>
struct real_part : std::type_identity<T> {};
template <class T>
struct real_part<basic_complex<T>> : std::type_identity<T> {};

// The type of a buffer's elements that hold values of type T.
template <class T>
struct buffer_element : std::type_identity<T> {};
template <class T>
  requires complex_like<T, typename T::value_type>
struct buffer_element<T> : std::type_identity<basic_complex<typename T::value_type>> {};
template <class T>
using element_of = typename buffer_element<T>::type;
}  // namespace detail
/// The type of the parts of a T: float for complex64, double for complex128, T itself if it is real.
template <class T>
using real_of = typename detail::real_part<T>::type;

}  // namespace troupe
