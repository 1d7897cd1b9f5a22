// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernel_arguments.hpp"

/// Arithmetic on all element types, and loads and stores of single elements.
namespace troupe::blas::on_gpu {

using namespace kernel_arguments;

using i64 = std::int64_t;

template <class R>
struct complex_of {
  R real, imag;
};
using c64 = complex_of<float>;
using c128 = complex_of<double>;

template <class T>
struct real_part {
  using type = T;
};
template <class R>
struct real_part<complex_of<R>> {
  using type = R;
};
template <class T>
using real_of = typename real_part<T>::type;

// Arithmetic for all element types. Complex products use the plain formula, as in BLAS.
template <class T>
__device__ T times(T a, T b) {
  return a * b;
}
template <class R>
__device__ complex_of<R> times(complex_of<R> a, complex_of<R> b) {
  return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}
template <class R>
__device__ complex_of<R> times(R a, complex_of<R> b) {
  return {a * b.real, a * b.imag};
}
// Overflow wraps around.
inline __device__ std::int32_t times(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}
inline __device__ __half times(float a, __half b) { return __float2half_rn(a * __half2float(b)); }
inline __device__ __nv_bfloat16 times(float a, __nv_bfloat16 b) { return __float2bfloat16_rn(a * __bfloat162float(b)); }

template <class T>
__device__ T plus(T a, T b) {
  return a + b;
}
template <class R>
__device__ complex_of<R> plus(complex_of<R> a, complex_of<R> b) {
  return {a.real + b.real, a.imag + b.imag};
}
inline __device__ std::int32_t plus(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

inline __device__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
inline __device__ double fused(double a, double b, double c) { return fma(a, b, c); }
inline __device__ std::int32_t fused(std::int32_t a, std::int32_t b, std::int32_t c) { return a * b + c; }
template <class R>
__device__ complex_of<R> fused(complex_of<R> a, complex_of<R> b, complex_of<R> c) {
  return {fused(-a.imag, b.imag, fused(a.real, b.real, c.real)), fused(a.imag, b.real, fused(a.real, b.imag, c.imag))};
}

template <class T>
__device__ T conjugate(T a) {
  return a;
}
template <class R>
__device__ complex_of<R> conjugate(complex_of<R> a) {
  return {a.real, -a.imag};
}
template <class T>
__device__ bool is(T a, int value) {
  return a == static_cast<T>(value);
}
template <class R>
__device__ bool is(complex_of<R> a, int value) {
  return a.real == static_cast<R>(value) && a.imag == 0;
}
inline __device__ float magnitude(float a) { return fabsf(a); }
inline __device__ double magnitude(double a) { return fabs(a); }
template <class R>
__device__ R magnitude(complex_of<R> a) {
  return magnitude(a.real) + magnitude(a.imag);
}

template <class T>
__device__ T load(const number& x) {
  return x.at != nullptr ? *static_cast<const T*>(x.at) : *reinterpret_cast<const T*>(x.value);
}
template <class T>
__device__ void store(void* place, T value) {
  if (place != nullptr) *static_cast<T*>(place) = value;
}
inline __device__ i64 thread_number() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
inline __device__ i64 threads() { return static_cast<i64>(gridDim.x) * blockDim.x; }

// Converts an element to the type in which elements are summed.
template <class S, class T>
__device__ S widened(T v) {
  return static_cast<S>(v);
}
template <>
__device__ float widened<float, __half>(__half v) {
  return __half2float(v);
}
template <>
__device__ float widened<float, __nv_bfloat16>(__nv_bfloat16 v) {
  return __bfloat162float(v);
}
template <class C, class S>
__device__ C narrowed(S v) {
  return static_cast<C>(v);
}
template <>
__device__ __half narrowed<__half, float>(float v) {
  return __float2half_rn(v);
}
template <>
__device__ __nv_bfloat16 narrowed<__nv_bfloat16, float>(float v) {
  return __float2bfloat16_rn(v);
}

}  // namespace troupe::blas::on_gpu
