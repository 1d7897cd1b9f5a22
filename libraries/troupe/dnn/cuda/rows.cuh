// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>

#include "elements.cuh"
#include "rows_arguments.hpp"

/// Normalisations over rows, which are read once, and kept in registers.
namespace troupe::dnn::on_gpu {

using number_of_float = epilogue::on_gpu::number<float>;
using kernel_arguments::normalizing_rows, kernel_arguments::normalizing_rows_back, kernel_arguments::numbers_of_rows;

constexpr int of_vector = 8, vectors = kernel_arguments::vectors_of_thread;

/// Eight neighbours as they lie in memory: of half types, or of f32.
template <class T>
struct eight {
  static constexpr std::size_t bytes = of_vector * sizeof(T);
#ifdef __CUDA_ARCH__
  uint4 of[bytes / sizeof(uint4)];
#else
  alignas(16) unsigned char of[bytes];  // what the processor's compiler lets read as any type
#endif
};
/// Addresses are multiples of 16.
template <class T>
__device__ void copy_eight(const void* from, void* to) {
#ifdef __CUDA_ARCH__
  for (std::size_t i = 0; i < eight<T>::bytes / sizeof(uint4); ++i)
    static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
#else
  std::memcpy(to, from, eight<T>::bytes);
#endif
}
template <class T>
__device__ eight<T> read_eight(const void* memory, i64 at) {
  eight<T> out;
  copy_eight<T>(static_cast<const T*>(memory) + at, &out);
  return out;
}
/// Numbers of the types that are known when the kernel runs, which all threads share.
__device__ inline void unpack(const eight<float>& from, dtype, float (&to)[of_vector]) {
  for (int k = 0; k < of_vector; ++k) to[k] = number_of_float::load(dtype::f32, from.of, k);
}
__device__ inline void unpack(const eight<half>& from, dtype t, float (&to)[of_vector]) {
  if (t == dtype::f16)
    for (int k = 0; k < of_vector; ++k) to[k] = number_of_float::load(dtype::f16, from.of, k);
  else
    for (int k = 0; k < of_vector; ++k) to[k] = number_of_float::load(dtype::bf16, from.of, k);
}
__device__ inline void read_eight(const numbers_of_rows& from, i64 at, float (&to)[of_vector]) {
  if (from.type == dtype::f32)
    unpack(read_eight<float>(from.memory, at), from.type, to);
  else
    unpack(read_eight<half>(from.memory, at), from.type, to);
}
__device__ inline void write_eight(dtype t, void* memory, i64 at, const float (&from)[of_vector]) {
  if (t == dtype::f32) {
    eight<float> p;
    for (int k = 0; k < of_vector; ++k) number_of_float::store(dtype::f32, p.of, k, from[k]);
    return copy_eight<float>(&p, static_cast<float*>(memory) + at);
  }
  eight<half> p;
  if (t == dtype::f16)
    for (int k = 0; k < of_vector; ++k) number_of_float::store(dtype::f16, p.of, k, from[k]);
  else
    for (int k = 0; k < of_vector; ++k) number_of_float::store(dtype::bf16, p.of, k, from[k]);
  copy_eight<half>(&p, static_cast<half*>(memory) + at);
}

__device__ inline float sum_of_eight(const float (&x)[of_vector]) {
  return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/// Where a thread is.
struct place_in_row {
  unsigned threads, thread, row, rows;  // of the row; which of them; which row of the block; rows of the block
  i64 width;

  __device__ explicit place_in_row(const kernel_arguments::rows& r)
      : threads(r.threads),
        thread(threadIdx.x % r.threads),
        row(threadIdx.x / r.threads),
        rows(blockDim.x / r.threads),
        width(r.width) {}
  /// Calls `f(vector, first column)` for what the thread has.
  template <class F>
  __device__ void for_each(F&& f) const {
    for (int v = 0; v < vectors; ++v) {
      const i64 first = (static_cast<i64>(v) * threads + thread) * of_vector;
      if (first < width) f(v, first);
    }
  }
};

/// What threads of a block sum. Sums are pairwise, so that float is enough for them: double would take longer than
/// memory does.
struct summands {
#ifdef __CUDA_ARCH__
  float of[2][kernel_arguments::most_threads / 32];
#else
  float of[2][kernel_arguments::most_threads];
#endif
};
#ifdef __CUDA_ARCH__
__device__ inline float sum_of_warp(float mine) {
  for (int apart = 16; apart != 0; apart /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, apart);
  return mine;
}
#endif
/// The sum over the threads of a row, in a fixed order. All threads of the block call it, with 0 and 1 in turn.
__device__ inline float sum_of_row(float mine, const place_in_row& p, summands& m, int turn) {
#ifdef __CUDA_ARCH__
  mine = sum_of_warp(mine);
  const unsigned warps = p.threads / 32;
  if (warps == 1) return mine;
  if (threadIdx.x % 32 == 0) m.of[turn][threadIdx.x / 32] = mine;
  __syncthreads();
  return sum_of_warp(threadIdx.x % 32 < warps ? m.of[turn][p.row * warps + threadIdx.x % 32] : 0);
#else
  m.of[turn][threadIdx.x] = mine;
  __syncthreads();
  double sum = 0;
  for (unsigned k = 0; k < p.threads; ++k) sum += static_cast<double>(m.of[turn][p.row * p.threads + k]);
  return static_cast<float>(sum);
#endif
}

template <class>
__device__ void normalize_rows(const normalizing_rows& r) {
  __shared__ summands sums;
  const place_in_row p(r.all);
  const auto count = static_cast<float>(r.all.width);
  for (i64 first = static_cast<i64>(blockIdx.x) * p.rows; first < r.all.count;
       first += static_cast<i64>(gridDim.x) * p.rows) {
    const i64 row = first + p.row, begin = row * p.width;
    const bool is_there = row < r.all.count;
    float x[vectors][of_vector] = {};
    if (is_there) p.for_each([&](int v, i64 column) { read_eight(r.x, begin + column, x[v]); });
    float mean = 0, mine = 0;
    if (r.all.rms == 0) {
      for (int v = 0; v < vectors; ++v) mine += sum_of_eight(x[v]);
      mean = sum_of_row(mine, p, sums, 0) / count;
    } else {
      __syncthreads();  // nobody reads the sums of the row before
    }
    mine = 0;
    p.for_each([&](int v, i64) {
      float squares[2] = {};
      for (int k = 0; k < of_vector; ++k) squares[k % 2] = multiply_add(x[v][k] - mean, x[v][k] - mean, squares[k % 2]);
      mine += squares[0] + squares[1];
    });
    const float deviation = 1 / sqrtf(sum_of_row(mine, p, sums, 1) / count + static_cast<float>(r.epsilon));
    if (!is_there) continue;
    if (p.thread == 0) r.mean[row] = mean, r.deviation[row] = deviation;
    p.for_each([&](int v, i64 column) {
      float factor[of_vector], y[of_vector] = {};
      for (int k = 0; k < of_vector; ++k) factor[k] = 1;
      if (r.scale.memory != nullptr) read_eight(r.scale, column, factor);
      if (r.offset.memory != nullptr) read_eight(r.offset, column, y);
      for (int k = 0; k < of_vector; ++k) y[k] = multiply_add(x[v][k] - mean, deviation * factor[k], y[k]);
      write_eight(r.type_of_y, r.y, begin + column, y);
    });
  }
}

/// What a thread has of a row that goes back. x and dy are kept as they are in memory, and converted twice.
template <class T>
struct row_back {
  eight<T> x[vectors], dy[vectors];
  float mean, deviation;

  __device__ static row_back of(const normalizing_rows_back& r, const place_in_row& p, i64 row) {
    row_back out{};
    p.for_each([&](int v, i64 column) {
      out.x[v] = read_eight<T>(r.x.memory, row * p.width + column);
      out.dy[v] = read_eight<T>(r.dy.memory, row * p.width + column);
    });
    out.mean = r.all.rms == 0 ? r.mean[row] : 0, out.deviation = r.deviation[row];
    return out;
  }

  /// Calls `f(k, dy, dy * scale, normal)` for each element of a vector.
  template <class F>
  __device__ void for_each_of(const normalizing_rows_back& r, int v, i64 column, F&& f) const {
    float of_x[of_vector], of_dy[of_vector], scale[of_vector];
    unpack(x[v], r.x.type, of_x), unpack(dy[v], r.dy.type, of_dy);
    if (r.scale.memory != nullptr) read_eight(r.scale, column, scale);
    for (int k = 0; k < of_vector; ++k)
      f(k, of_dy[k], r.scale.memory != nullptr ? of_dy[k] * scale[k] : of_dy[k], (of_x[k] - mean) * deviation);
  }
};

/// T: half for any two half types.
template <class T>
__device__ void normalize_rows_back(const normalizing_rows_back& r) {
  __shared__ summands sums;
  const place_in_row p(r.all);
  const auto count = static_cast<float>(r.all.width);
  for (i64 part = blockIdx.x; part < r.parts; part += gridDim.x) {
    float dscale[vectors][of_vector] = {}, doffset[vectors][of_vector] = {};
    const i64 begin = part * r.all.count / r.parts, end = (part + 1) * r.all.count / r.parts;
    row_back<T> next{};
    if (begin + p.row < end) next = row_back<T>::of(r, p, begin + p.row);
    for (i64 row = begin + p.row; row - p.row < end; row += p.rows) {
      const bool is_there = row < end;
      const row_back<T> of = next;
      // Half types leave registers for the next row, which is read meanwhile.
      constexpr bool reads_ahead = sizeof(T) == 2;
      if (reads_ahead && row + p.rows < end) next = row_back<T>::of(r, p, row + p.rows);
      float slopes = 0, along = 0;
      if (is_there) {
        p.for_each([&](int v, i64 column) {
          float slope[of_vector], product[of_vector];
          of.for_each_of(r, v, column, [&](int k, float dy, float scaled, float normal) {
            slope[k] = scaled, product[k] = scaled * normal;
            dscale[v][k] = multiply_add(dy, normal, dscale[v][k]), doffset[v][k] += dy;
          });
          slopes += sum_of_eight(slope), along += sum_of_eight(product);
        });
      }
      const float all_slopes = sum_of_row(slopes, p, sums, 0);
      const float mean_slope = r.all.rms != 0 ? 0 : all_slopes / count;
      const float mean_along = sum_of_row(along, p, sums, 1) / count;
      if (is_there)
        p.for_each([&](int v, i64 column) {
          float dx[of_vector];
          of.for_each_of(r, v, column, [&](int k, float, float scaled, float normal) {
            dx[k] = of.deviation * (scaled - mean_slope - normal * mean_along);
          });
          write_eight(r.type_of_dx, r.dx, row * p.width + column, dx);
        });
      if (!reads_ahead && row + p.rows < end) next = row_back<T>::of(r, p, row + p.rows);
    }
    const i64 at = (part * p.rows + p.row) * p.width;
    p.for_each([&](int v, i64 column) {
      if (r.dscales != nullptr) write_eight(dtype::f32, r.dscales, at + column, dscale[v]);
      if (r.doffsets != nullptr) write_eight(dtype::f32, r.doffsets, at + column, doffset[v]);
    });
  }
}

}  // namespace troupe::dnn::on_gpu
