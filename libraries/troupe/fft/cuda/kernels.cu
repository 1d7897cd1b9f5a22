// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Kernels for what cuFFT lacks: normalization, half types of any length, and requests that share a call. Memory
// bandwidth limits all of them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernel_arguments.hpp"

using namespace troupe::fft::kernel_arguments;

namespace {

struct c32 {
  __half re, im;
};
struct cbf16 {
  __nv_bfloat16 re, im;
};

__device__ float widened(__half x) { return __half2float(x); }
__device__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float2 widened(c32 x) { return make_float2(widened(x.re), widened(x.im)); }
__device__ float2 widened(cbf16 x) { return make_float2(widened(x.re), widened(x.im)); }

__device__ void narrow(float x, float& to) { to = x; }
__device__ void narrow(double x, double& to) { to = x; }
__device__ void narrow(float x, __half& to) { to = __float2half(x); }
__device__ void narrow(float x, __nv_bfloat16& to) { to = __float2bfloat16(x); }
__device__ void narrow(float2 x, c32& to) { narrow(x.x, to.re), narrow(x.y, to.im); }
__device__ void narrow(float2 x, cbf16& to) { narrow(x.x, to.re), narrow(x.y, to.im); }

__device__ float times(float x, double f) { return x * static_cast<float>(f); }
__device__ double times(double x, double f) { return x * f; }
__device__ float2 times(float2 x, double f) { return make_float2(times(x.x, f), times(x.y, f)); }
__device__ double2 times(double2 x, double f) { return make_double2(x.x * f, x.y * f); }

__device__ std::uint64_t place(const places& p, std::uint64_t i) {
  if (p.dense) return i;
  std::uint64_t at = 0;
  for (int d = 3; d > 0; --d) {
    at += i % p.n[d] * p.step[d];
    i /= p.n[d];
  }
  return at + i * p.step[0];
}

__device__ std::uint64_t first_element() { return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::uint64_t stride() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

template <class Narrow, class Wide>
__device__ void gather(const gathering& a) {
  for (std::uint64_t i = first_element(); i < a.where.count; i += stride())
    static_cast<Wide*>(a.side)[i] = widened(static_cast<const Narrow*>(a.elements)[place(a.where, i)]);
}
template <class Narrow, class Wide>
__device__ void scatter(const scattering& a) {
  for (std::uint64_t i = first_element(); i < a.where.count; i += stride())
    narrow(times(static_cast<const Wide*>(a.side)[i], a.factor), static_cast<Narrow*>(a.elements)[place(a.where, i)]);
}
template <class T>
__device__ void scale(const scaling& a) {
  for (std::uint64_t i = first_element(); i < a.where.count; i += stride()) {
    T& x = static_cast<T*>(a.elements)[place(a.where, i)];
    x = times(x, a.factor);
  }
}
// Uses one row of blocks for each member.
template <class T>
__device__ void collect(const members_to_side& a) {
  const T* const from = static_cast<const T*>(a.members[blockIdx.y]);
  T* const to = static_cast<T*>(a.side) + blockIdx.y * a.each;
  for (std::uint64_t i = first_element(); i < a.each; i += stride()) to[i] = from[i];
}
template <class T>
__device__ void distribute(const side_to_members& a) {
  const T* const from = static_cast<const T*>(a.side) + blockIdx.y * a.each;
  T* const to = static_cast<T*>(a.members[blockIdx.y]);
  for (std::uint64_t i = first_element(); i < a.each; i += stride()) to[i] = times(from[i], a.factor);
}

}  // namespace

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void troupe_fft_##NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#include "kernel_list.inc"
