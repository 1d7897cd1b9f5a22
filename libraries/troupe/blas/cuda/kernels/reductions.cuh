// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.cuh"

/// Searches and sums over vectors.
namespace troupe::blas::on_gpu {

// Combines one value of each thread of a block, in thread 0 and always in the same order.
template <class P, class Join>
__device__ P of_block(P mine, Join&& join) {
  __shared__ P all[256];
  all[threadIdx.x] = mine;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x] = join(all[threadIdx.x], all[threadIdx.x + half]);
  }
  return all[0];
}

// Finds the first largest or smallest magnitude. NaN is ignored; a negative index means that nothing was found.
template <class R>
struct extremum {
  R value;
  i64 index;
};
template <class R>
__device__ extremum<R> better(extremum<R> a, extremum<R> b, bool largest) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  if (a.value == b.value) return a.index < b.index ? a : b;
  return (largest ? a.value > b.value : a.value < b.value) ? a : b;
}
inline __device__ void answer_index(const places& to, i64 index) {
  store<i64>(to.reply, index < 0 ? 0 : index);
  store<i64>(to.result, index < 0 ? 0 : index);
}
template <class T>
__device__ void find(const reduction& r) {
  using R = real_of<T>;
  const T* const x = static_cast<const T*>(r.x);
  extremum<R> best{0, -1};
  for (i64 i = thread_number(); i < r.n; i += threads()) {
    const R value = magnitude(x[(r.backwards != 0 ? r.n - 1 - i : i) * r.step]);
    if (value == value) best = better(best, extremum<R>{value, i}, r.largest != 0);
  }
  best = of_block(best, [&](auto a, auto b) { return better(a, b, r.largest != 0); });
  if (threadIdx.x != 0) return;
  if (r.parts == 1) return answer_index(r.to, best.index);
  static_cast<extremum<R>*>(r.found)[blockIdx.x] = best;
}
template <class R>
__device__ void find_among_parts(const reduction& r) {
  extremum<R> best{0, -1};
  for (int i = threadIdx.x; i < r.parts; i += blockDim.x)
    best = better(best, static_cast<const extremum<R>*>(r.found)[i], r.largest != 0);
  best = of_block(best, [&](auto a, auto b) { return better(a, b, r.largest != 0); });
  if (threadIdx.x == 0) answer_index(r.to, best.index);
}

// Sums squares without intermediate overflow or underflow. Squares of float are summed in double. Squares of double are
// summed in three groups by size, of which small and large ones are scaled (Blue 1978, with the constants of LAPACK's
// dnrm2).
struct squares {
  double small, middle, large;
};
constexpr double small_below = 0x1p-511, large_above = 0x1p486, scale_small = 0x1p537, scale_large = 0x1p-538;
inline __device__ void add_square(squares& s, float v) { s.middle = fma(double(v), double(v), s.middle); }
inline __device__ void add_square(squares& s, double v) {
  v = fabs(v);
  if (v > large_above)
    s.large += v * scale_large * (v * scale_large);
  else if (v < small_below)
    s.small += v * scale_small * (v * scale_small);
  else
    s.middle += v * v;  // includes NaN
}
template <class R>
__device__ void add_square(squares& s, complex_of<R> v) {
  add_square(s, v.real);
  add_square(s, v.imag);
}
inline __device__ squares joined(squares a, squares b) {
  return {a.small + b.small, a.middle + b.middle, a.large + b.large};
}
inline __device__ double root(const squares& s) {
  const bool any_middle = s.middle > 0 || s.middle != s.middle;
  if (s.large > 0 || s.large != s.large) {
    const double middle = any_middle ? s.middle * scale_large * scale_large : 0;
    return sqrt(s.large + middle) / scale_large;
  }
  if (!(s.small > 0)) return sqrt(s.middle);
  const double small = sqrt(s.small) / scale_small;
  if (!any_middle) return small;
  const double middle = sqrt(s.middle);
  if (middle != middle) return middle;
  const double most = fmax(small, middle), least = fmin(small, middle), ratio = least / most;
  return most * sqrt(1 + ratio * ratio);
}
template <class R>
__device__ void answer_root(const places& to, const squares& s) {
  const R norm = static_cast<R>(root(s));
  store<R>(to.reply, norm);
  store<R>(to.result, norm);
}
template <class T>
__device__ void norm(const reduction& r) {
  const T* const x = static_cast<const T*>(r.x);
  squares sum{};
  for (i64 i = thread_number(); i < r.n; i += threads()) add_square(sum, x[i * r.step]);
  sum = of_block(sum, [](auto a, auto b) { return joined(a, b); });
  if (threadIdx.x != 0) return;
  if (r.parts == 1) return answer_root<real_of<T>>(r.to, sum);
  static_cast<squares*>(r.found)[blockIdx.x] = sum;
}
template <class R>
__device__ void norm_of_parts(const reduction& r) {
  squares sum{};
  for (int i = threadIdx.x; i < r.parts; i += blockDim.x) sum = joined(sum, static_cast<const squares*>(r.found)[i]);
  sum = of_block(sum, [](auto a, auto b) { return joined(a, b); });
  if (threadIdx.x == 0) answer_root<R>(r.to, sum);
}

}  // namespace troupe::blas::on_gpu
