// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.cuh"

/// Elementwise operations.
namespace troupe::blas::on_gpu {

// Calls f(element, index) for each element to scale.
template <class T, class F>
__device__ void each_of(const scaling& s, F&& f) {
  for (i64 b = blockIdx.z; b < s.batch; b += gridDim.z) {
    T* const c = s.list != nullptr ? static_cast<T*>(s.list[b]) : static_cast<T*>(s.c) + b * s.stride;
    for (i64 j = static_cast<i64>(blockIdx.y) * blockDim.y + threadIdx.y; j < s.columns;
         j += static_cast<i64>(gridDim.y) * blockDim.y) {
      const i64 first = s.which == part::lower ? j : 0, last = s.which == part::upper ? j + 1 : s.rows;
      for (i64 i = first + thread_number(); i < last; i += threads())
        f(c[i * s.step + j * s.ld], (b * s.columns + j) * s.rows + i);
    }
  }
}
template <class T, class F>
__device__ void scale(const scaling& s) {
  const F beta = load<F>(s.beta);
  if (s.always == 0 && is(beta, 1)) return;
  const bool clear = s.always == 0 && is(beta, 0);
  each_of<T>(s, [&](T& element, i64) { element = clear ? T{} : times(beta, element); });
}

inline __device__ bool is_zero(const number& x, factor kind) {
  switch (kind) {
    case factor::f32:
      return is(load<float>(x), 0);
    case factor::f64:
      return is(load<double>(x), 0);
    case factor::c64:
      return is(load<c64>(x), 0);
    case factor::c128:
      return is(load<c128>(x), 0);
    default:
      return is(load<std::int32_t>(x), 0);
  }
}
template <class T, class F>
__device__ void keep(const keeping& k) {
  if (!is_zero(k.alpha, k.kind)) return;
  T* const kept = static_cast<T*>(k.kept);
  if (k.restore != 0)
    return each_of<T>(k.what, [&](T& element, i64 at) { element = kept == nullptr ? T{} : kept[at]; });
  const F beta = load<F>(k.what.beta);
  const bool clear = is(beta, 0), same = is(beta, 1);
  each_of<T>(k.what, [&](T& element, i64 at) { kept[at] = clear ? T{} : same ? element : times(beta, element); });
}

template <class T>
__device__ T element_of_op(const void* x, int op, i64 i, i64 j, i64 ld) {
  const T v = static_cast<const T*>(x)[op == 0 ? i + j * ld : j + i * ld];
  return op == 2 ? conjugate(v) : v;
}
template <class T>
__device__ void add_matrices(const sum_of_matrices& s) {
  const T alpha = load<T>(s.alpha), beta = load<T>(s.beta);
  for (i64 j = static_cast<i64>(blockIdx.y) * blockDim.y + threadIdx.y; j < s.n;
       j += static_cast<i64>(gridDim.y) * blockDim.y)
    for (i64 i = thread_number(); i < s.m; i += threads()) {
      T sum{};
      if (!is(alpha, 0)) sum = times(alpha, element_of_op<T>(s.a, s.op_a, i, j, s.lda));
      if (!is(beta, 0)) {
        const T other = times(beta, element_of_op<T>(s.b, s.op_b, i, j, s.ldb));
        sum = is(alpha, 0) ? other : plus(sum, other);
      }
      static_cast<T*>(s.c)[i + j * s.ldc] = sum;
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
// Calls f(matrix, i, j) for every element of a batch.
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
    if (p.wrong[b] == 0) return;
    static_cast<T*>(p.list[b])[i + j * p.ld] = not_a_number<T>();
    if (p.info != nullptr && i == 0 && j == 0) p.info[b] = -1;
  });
}
template <class T>
__device__ void copy(const copying& p) {
  each_element(p.batch, p.rows, p.columns, [&](i64 b, i64 i, i64 j) {
    static_cast<T*>(p.to[b])[i + j * p.to_ld] = static_cast<const T*>(p.from[b])[i + j * p.from_ld];
  });
}

inline __device__ void deliver_words(const delivery& d) {
  if (threadIdx.x < static_cast<unsigned>(d.bytes) / 4)
    static_cast<std::uint32_t*>(d.to)[threadIdx.x] = static_cast<const std::uint32_t*>(d.from)[threadIdx.x];
}
inline __device__ void check_pivot_rows(const pivot_check& p) {
  for (i64 i = thread_number(); i < p.n * p.batch; i += threads()) {
    const i64 row = i % p.n;
    const std::int32_t pivot = p.pivots[i];
    const bool within = pivot > row && pivot <= p.n;
    p.safe[i] = within ? pivot : static_cast<std::int32_t>(row + 1);
    if (!within) p.wrong[i / p.n] = 1;
  }
}

}  // namespace troupe::blas::on_gpu
