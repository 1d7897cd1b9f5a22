// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <library_types.h>

#include <troupe/base/bfloat16.hpp>
#include <troupe/base/complex.hpp>
#include <troupe/base/half.hpp>
#include <troupe/fft/placement.hpp>
#include <type_traits>

/// The types in which cuFFT computes a transform.
namespace troupe::fft {

template <class T>
inline constexpr bool is_narrow = std::is_same_v<real_of<T>, half> || std::is_same_v<real_of<T>, bfloat16>;
template <class T>
inline constexpr bool is_complex_element = !std::is_same_v<T, real_of<T>>;
// The type in which transforms of elements T are computed.
template <class T>
using wide = std::conditional_t<!is_narrow<T>, T, std::conditional_t<is_complex_element<T>, complex64, float>>;

template <class T>
constexpr cudaDataType type_of() noexcept {
  if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
  if constexpr (std::is_same_v<T, double>) return CUDA_R_64F;
  if constexpr (std::is_same_v<T, complex64>) return CUDA_C_32F;
  return CUDA_C_64F;
}

}  // namespace troupe::fft
