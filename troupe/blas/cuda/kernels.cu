// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What cuBLAS has not, or has not the way our requests say it. All of them are plain: one that is bound by memory reads
// and writes neighbours side by side, and nothing is tuned to a chip.
#include "arithmetic.cuh"
#include "products.cuh"
#include "reductions.cuh"
#include "rotations.cuh"

namespace troupe::blas::on_gpu {

template <class T, class F>
__device__ void scale(const scaling& s) {
  const F beta = load<F>(s.beta);
  if (s.always == 0 && is(beta, 1)) return;
  const bool clear = s.always == 0 && is(beta, 0);
  for (i64 b = blockIdx.z; b < s.batch; b += gridDim.z) {
    T* const c = s.list != nullptr ? static_cast<T*>(s.list[b]) : static_cast<T*>(s.c) + b * s.stride;
    for (i64 j = static_cast<i64>(blockIdx.y) * blockDim.y + threadIdx.y; j < s.columns;
         j += static_cast<i64>(gridDim.y) * blockDim.y) {
      const i64 first = s.which == part::lower ? j : 0, last = s.which == part::upper ? j + 1 : s.rows;
      for (i64 i = first + thread_number(); i < last; i += threads()) {
        T& element = c[i * s.step + j * s.ld];
        element = clear ? T{} : times(beta, element);
      }
    }
  }
}

template <class T>
__device__ void add(const addition& s) {
  const T alpha = load<T>(s.alpha);
  if (is(alpha, 0)) return;
  const T* const x = static_cast<const T*>(s.x) + (s.incx < 0 ? (1 - s.n) * s.incx : 0);
  T* const y = static_cast<T*>(s.y) + (s.incy < 0 ? (1 - s.n) * s.incy : 0);
  for (i64 i = thread_number(); i < s.n; i += threads()) y[i * s.incy] = fused(alpha, x[i * s.incx], y[i * s.incy]);
}

template <class R>
__device__ void make_real(const diagonal& d) {
  for (i64 j = thread_number(); j < d.n; j += threads()) {
    const i64 place = d.which == part::packed_lower   ? j * d.n - j * (j - 1) / 2
                      : d.which == part::packed_upper ? j * (j + 1) / 2 + j
                                                      : j * (d.ld + 1);
    static_cast<complex_of<R>*>(d.a)[place].imag = 0;
  }
}

template <class T>
__device__ void multiply_by_diagonal(const diagonal_product& d) {
  const T* const a = static_cast<const T*>(d.a);
  const T* const x = static_cast<const T*>(d.x);
  T* const c = static_cast<T*>(d.c);
  for (i64 j = static_cast<i64>(blockIdx.y) * blockDim.y + threadIdx.y; j < d.n;
       j += static_cast<i64>(gridDim.y) * blockDim.y)
    for (i64 i = thread_number(); i < d.m; i += threads())
      c[i + j * d.ldc] = times(x[(d.left != 0 ? i : j) * d.inc], a[i + j * d.lda]);
}

template <class T>
__device__ T not_a_number();
template <>
__device__ float not_a_number<float>() {
  return __int_as_float(0x7fc00000);
}
template <>
__device__ double not_a_number<double>() {
  return __longlong_as_double(0x7ff8000000000000);
}
template <>
__device__ c64 not_a_number<c64>() {
  return {not_a_number<float>(), not_a_number<float>()};
}
template <>
__device__ c128 not_a_number<c128>() {
  return {not_a_number<double>(), not_a_number<double>()};
}
// f(matrix, i, j) for every element of a batch.
template <class F>
__device__ void each_element(i64 batch, i64 rows, i64 columns, F&& f) {
  for (i64 b = blockIdx.z; b < batch; b += gridDim.z)
    for (i64 j = static_cast<i64>(blockIdx.y) * blockDim.y + threadIdx.y; j < columns;
         j += static_cast<i64>(gridDim.y) * blockDim.y)
      for (i64 i = thread_number(); i < rows; i += threads()) f(b, i, j);
}
template <class T>
__device__ void poison(const poisoning& p) {
  each_element(p.batch, p.rows, p.columns, [&](i64 b, i64 i, i64 j) {
    if (p.wrong[b] != 0) static_cast<T*>(p.list[b])[i + j * p.ld] = not_a_number<T>();
  });
}
template <class T>
__device__ void copy(const copying& p) {
  each_element(p.batch, p.rows, p.columns, [&](i64 b, i64 i, i64 j) {
    static_cast<T*>(p.to[b])[i + j * p.to_ld] = static_cast<const T*>(p.from[b])[i + j * p.from_ld];
  });
}

}  // namespace troupe::blas::on_gpu

using namespace troupe::blas::on_gpu;

#define KERNEL(NAME, ARGUMENTS, ...) \
  extern "C" __global__ void NAME(const __grid_constant__ ARGUMENTS arguments) { __VA_ARGS__(arguments); }
#define KERNELS_OF_REAL(NAME, ARGUMENTS, FUNCTION) \
  KERNEL(NAME##_f32, ARGUMENTS, FUNCTION<float>) KERNEL(NAME##_f64, ARGUMENTS, FUNCTION<double>)
#define KERNELS_OF_ALL(NAME, ARGUMENTS, FUNCTION) \
  KERNELS_OF_REAL(NAME, ARGUMENTS, FUNCTION)      \
  KERNEL(NAME##_c64, ARGUMENTS, FUNCTION<c64>) KERNEL(NAME##_c128, ARGUMENTS, FUNCTION<c128>)

KERNEL(scale_f32_f32, scaling, scale<float, float>)
KERNEL(scale_f64_f64, scaling, scale<double, double>)
KERNEL(scale_c64_c64, scaling, scale<c64, c64>)
KERNEL(scale_c128_c128, scaling, scale<c128, c128>)
KERNEL(scale_c64_f32, scaling, scale<c64, float>)
KERNEL(scale_c128_f64, scaling, scale<c128, double>)
KERNEL(scale_f16_f32, scaling, scale<__half, float>)
KERNEL(scale_bf16_f32, scaling, scale<__nv_bfloat16, float>)
KERNEL(scale_i32_i32, scaling, scale<std::int32_t, std::int32_t>)
KERNELS_OF_ALL(add, addition, add)
KERNELS_OF_REAL(make_real, diagonal, make_real)
KERNELS_OF_ALL(find, reduction, find)
KERNELS_OF_REAL(find_among_parts, reduction, find_among_parts)
KERNELS_OF_ALL(norm, reduction, norm)
KERNELS_OF_REAL(norm_of_parts, reduction, norm_of_parts)
KERNELS_OF_ALL(rotg, rotation, rotate_to_zero)
KERNELS_OF_REAL(rotmg, modified_rotation, modified_rotate_to_zero)
KERNELS_OF_REAL(check_flag, flag, check_flag)
KERNEL(multiply_f32_f32, products, multiply<float, float, float>)
KERNEL(multiply_f64_f64, products, multiply<double, double, double>)
KERNEL(multiply_c64_c64, products, multiply<c64, c64, c64>)
KERNEL(multiply_c128_c128, products, multiply<c128, c128, c128>)
KERNEL(multiply_f16_f16, products, multiply<__half, __half, float>)
KERNEL(multiply_f16_f32, products, multiply<__half, float, float>)
KERNEL(multiply_bf16_bf16, products, multiply<__nv_bfloat16, __nv_bfloat16, float>)
KERNEL(multiply_bf16_f32, products, multiply<__nv_bfloat16, float, float>)
KERNEL(multiply_i8_i32, products, multiply<std::int8_t, std::int32_t, std::int32_t>)
KERNEL(multiply_i8_f32, products, multiply<std::int8_t, float, float>)
KERNELS_OF_ALL(multiply_by_diagonal, diagonal_product, multiply_by_diagonal)
KERNELS_OF_ALL(poison, poisoning, poison)
KERNELS_OF_ALL(copy, copying, copy)

extern "C" __global__ void deliver(const __grid_constant__ delivery d) {
  if (threadIdx.x < d.bytes / 4)
    static_cast<std::uint32_t*>(d.to)[threadIdx.x] = static_cast<const std::uint32_t*>(d.from)[threadIdx.x];
}

extern "C" __global__ void check_pivots(const __grid_constant__ pivot_check p) {
  for (i64 i = thread_number(); i < p.n * p.batch; i += threads()) {
    const i64 row = i % p.n;
    const std::int32_t pivot = p.pivots[i];
    const bool within = pivot > row && pivot <= p.n;
    p.safe[i] = within ? pivot : static_cast<std::int32_t>(row + 1);
    if (!within) p.wrong[i / p.n] = 1;
  }
}
