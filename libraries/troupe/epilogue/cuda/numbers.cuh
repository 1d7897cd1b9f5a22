// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <troupe/base/complex.hpp>
#include <troupe/epilogue/numbers.hpp>

/// Loads, stores and rounds numbers of a type that is known at run time, for kernels. Frequent types are converted by
/// instructions of the GPU, the others by the same code as on the host.
namespace troupe::epilogue::on_gpu {

using i64 = std::int64_t;

template <class N>
struct number {
  static __device__ N load(dtype t, const void* memory, i64 at) {
    switch (t) {
      case dtype::f32:
        return static_cast<N>(static_cast<const float*>(memory)[at]);
      case dtype::f64:
        return static_cast<N>(static_cast<const double*>(memory)[at]);
      case dtype::f16:
        return static_cast<N>(__half2float(static_cast<const __half*>(memory)[at]));
      case dtype::bf16:
        return static_cast<N>(__bfloat162float(static_cast<const __nv_bfloat16*>(memory)[at]));
      case dtype::i32:
        return static_cast<N>(static_cast<const std::int32_t*>(memory)[at]);
      case dtype::f8e4m3:
        return float8(static_cast<const __nv_fp8_storage_t*>(memory)[at], __NV_E4M3);
      case dtype::f8e5m2:
        return float8(static_cast<const __nv_fp8_storage_t*>(memory)[at], __NV_E5M2);
      default: {
        N out = 0;
        with_real_type(t, [&](auto x) { out = static_cast<N>(static_cast<const decltype(x)*>(memory)[at]); });
        return out;
      }
    }
  }
  static __device__ void store(dtype t, void* memory, i64 at, N x) {
    switch (t) {
      case dtype::f32:
        static_cast<float*>(memory)[at] = static_cast<float>(x);
        break;
      case dtype::f64:
        static_cast<double*>(memory)[at] = static_cast<double>(x);
        break;
      case dtype::f16:
        static_cast<__half*>(memory)[at] = to_half(x);
        break;
      case dtype::bf16:
        static_cast<__nv_bfloat16*>(memory)[at] = to_bfloat16(x);
        break;
      case dtype::f8e4m3:
        static_cast<__nv_fp8_storage_t*>(memory)[at] = to_float8(x, __NV_E4M3);
        break;
      case dtype::f8e5m2:
        static_cast<__nv_fp8_storage_t*>(memory)[at] = to_float8(x, __NV_E5M2);
        break;
      case dtype::f8e8m0:
        static_cast<unsigned char*>(memory)[at] = to_scale(x);
        break;
      case dtype::f4e2m1:
        static_cast<unsigned char*>(memory)[at] = to_float4(x);
        break;
      default:
        with_real_type(t, [&](auto like) {
          using T = decltype(like);
          static_cast<T*>(memory)[at] = rounded_to<T>(x);
        });
    }
  }
  static __device__ N rounded(dtype t, N x) {
    std::uint64_t memory;
    store(t, &memory, 0, x);
    return load(t, &memory, 0);
  }

 private:
  static __device__ __half to_half(float x) { return __float2half_rn(x); }
  static __device__ __half to_half(double x) { return __double2half(x); }
  static __device__ __nv_bfloat16 to_bfloat16(float x) { return __float2bfloat16_rn(x); }
  static __device__ __nv_bfloat16 to_bfloat16(double x) { return __double2bfloat16(x); }
  static __device__ __nv_fp8_storage_t to_float8(float x, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind);
  }
  static __device__ __nv_fp8_storage_t to_float8(double x, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(x, __NV_SATFINITE, kind);
  }
  // The next two functions do not use the host's code: it counts leading zeros with a function of <bit> that is wrong
  // on a GPU.
  static __device__ unsigned char to_scale(double x) {
    std::uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(std::uint64_t{1} << 63);
    const int exponent = static_cast<int>(bits >> 52) - 1023, below = exponent + 127;
    const std::uint64_t rest = bits << 12, half = std::uint64_t{1} << 63;
    if (x != x) return 0xff;
    if (below < 0) return 0;
    const int code = below + (rest > half || (rest == half && below % 2 != 0) ? 1 : 0);
    return static_cast<unsigned char>(code > 0xfe ? 0xfe : code);
  }
  static __device__ unsigned char to_float4(double x) {
    if (x != x) return 7;
    const double m = fabs(x);
    const int code = m <= 0.25   ? 0
                     : m < 0.75  ? 1
                     : m <= 1.25 ? 2
                     : m < 1.75  ? 3
                     : m <= 2.5  ? 4
                     : m < 3.5   ? 5
                     : m <= 5    ? 6
                                 : 7;
    return static_cast<unsigned char>(code | (1 / x < 0 || x < 0 ? 8 : 0));
  }
  static __device__ N float8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
    return static_cast<N>(__half2float(__half(__nv_cvt_fp8_to_halfraw(x, kind))));
  }
};

/// The functions for complex numbers, whose type is c64 or c128.
template <class T>
struct number<basic_complex<T>> {
  using N = basic_complex<T>;
  static __device__ N load(dtype t, const void* memory, i64 at) {
    if (t == dtype::c64) {
      const complex64 z = static_cast<const complex64*>(memory)[at];
      return N(static_cast<T>(z.real), static_cast<T>(z.imag));
    }
    const complex128 z = static_cast<const complex128*>(memory)[at];
    return N(static_cast<T>(z.real), static_cast<T>(z.imag));
  }
  static __device__ void store(dtype t, void* memory, i64 at, N z) {
    if (t == dtype::c64)
      static_cast<complex64*>(memory)[at] = complex64(static_cast<float>(z.real), static_cast<float>(z.imag));
    else
      static_cast<complex128*>(memory)[at] = complex128(z.real, z.imag);
  }
  static __device__ N rounded(dtype t, N z) {
    complex128 memory{};
    store(t, &memory, 0, z);
    return load(t, &memory, 0);
  }
};

}  // namespace troupe::epilogue::on_gpu
