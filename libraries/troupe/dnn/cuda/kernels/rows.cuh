// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "eights.cuh"

/// Gradients of normalizations over rows. A row is read once, and held in registers in its stored type.
namespace troupe::dnn::on_gpu {

using kernel_arguments::normalize_rows_gradient_arguments;

/// The elements of a row that a thread has: up to `Vectors` vectors of eight neighbors. The lanes of a warp have
/// neighboring vectors.
template <int Vectors>
struct thread_in_row {
  unsigned threads, thread;  // threads of the row; the thread's index among them
  unsigned row, rows;        // the row's index among those of the block; rows of the block
  int width, first;          // columns of the row; the thread's first column

  __device__ explicit thread_in_row(const kernel_arguments::rows& r)
      : threads(r.threads),
        thread(threadIdx.x & (r.threads - 1)),
        row(threadIdx.x >> r.log_of_threads),
        rows(blockDim.x >> r.log_of_threads),
        width(static_cast<int>(r.width)),
        first(static_cast<int>(thread / 32 * Vectors * 32 + thread % 32) * elements_per_vector) {}
  /// Calls `f(vector, first column, true if the vector is in the row)`.
  template <class F>
  __device__ void for_each_there(F&& f) const {
    TROUPE_UNROLLED
    for (int v = 0; v < Vectors; ++v) {
      const int column = first + v * 32 * elements_per_vector;
      f(v, column, column < width);
    }
  }
  /// Calls `f(vector, first column)` for each of the thread's vectors that is in the row.
  template <class F>
  __device__ void for_each(F&& f) const {
    for_each_there([&](int v, int column, bool has) {
      if (has) f(v, column);
    });
  }
};

/// Shared memory for sums over the threads of a block. Sums are pairwise, so that float suffices; sums in double would
/// take longer than the accesses to memory.
struct row_sums {
#ifdef __CUDA_ARCH__
  float of[2][2][kernel_arguments::most_gradient_threads / 32];
#else
  float of[2][2][kernel_arguments::most_gradient_threads];
#endif
};
/// Replaces `mine` by its sum over the threads of a row, in a fixed order. All threads of the block must call it, with
/// `turn` alternating between 0 and 1 from call to call.
template <int Count, int Vectors>
__device__ void sum_over_row(float (&mine)[Count], const thread_in_row<Vectors>& p, row_sums& m, unsigned turn) {
#ifdef __CUDA_ARCH__
  TROUPE_UNROLLED
  for (int apart = 16; apart != 0; apart /= 2)
    for (float& x : mine) x += __shfl_xor_sync(0xffffffffu, x, apart);
  const unsigned warps = p.threads / 32;
  if (warps == 1) return;
  TROUPE_UNROLLED
  for (int i = 0; i < Count; ++i)
    if (threadIdx.x % 32 == 0) m.of[turn][i][threadIdx.x / 32] = mine[i];
  __syncthreads();
  for (int i = 0; i < Count; ++i) mine[i] = m.of[turn][i][p.row * warps + threadIdx.x % warps];
  TROUPE_UNROLLED
  for (unsigned apart = 16; apart != 0; apart /= 2)
    if (apart < warps)
      for (float& x : mine) x += __shfl_xor_sync(0xffffffffu, x, apart);
#else
  for (int i = 0; i < Count; ++i) m.of[turn][i][threadIdx.x] = mine[i];
  __syncthreads();
  for (int i = 0; i < Count; ++i) {
    double sum = 0;
    for (unsigned k = 0; k < p.threads; ++k) sum += static_cast<double>(m.of[turn][i][p.row * p.threads + k]);
    mine[i] = static_cast<float>(sum);
  }
#endif
}
/// A thread's vectors of dy and x in its current row. For half types, its next row is copied to shared memory
/// meanwhile.
template <class T>
class row_pairs {
 public:
  static constexpr int vectors = kernel_arguments::gradient_vectors;
  using place = thread_in_row<vectors>;
  using memory = uint4[kernel_arguments::bytes_ahead / sizeof(uint4)];
  eight<T> dy[vectors], x[vectors];

  __device__ row_pairs(const normalize_rows_gradient_arguments& r, const place& p, memory& of_block, i64 first, i64 end)
      : place_(p),
        of_block_(of_block),
        next_dy_(static_cast<const T*>(r.dy.memory) + first * r.all.width),
        next_x_(static_cast<const T*>(r.x.memory) + first * r.all.width),
        stride_(p.rows * r.all.width),
        row_(first),
        end_(end) {
    begin_next();
  }
  __device__ void take_next() {
    if (row_ >= end_) return;
    if (copies) wait_for_copies();
    place_.for_each_there([&](int v, int column, bool has) {
      if constexpr (copies)
        memcpy(&dy[v], slot(0, v), sizeof(uint4)), memcpy(&x[v], slot(1, v), sizeof(uint4));
      else
        dy[v] = read_eight_once_if<T>(has, next_dy_ + column), x[v] = read_eight_once_if<T>(has, next_x_ + column);
    });
    row_ += place_.rows, next_dy_ += stride_, next_x_ += stride_;
    begin_next();
  }

 private:
  static constexpr bool copies = sizeof(eight<T>) == sizeof(uint4);

  __device__ uint4* slot(int tensor, int v) const {
    return of_block_ + static_cast<unsigned>(tensor * vectors + v) * blockDim.x + threadIdx.x;
  }
  __device__ void begin_next() {
    if (copies && row_ < end_)
      place_.for_each([&](int v, int column) {
        begin_copy(next_dy_ + column, slot(0, v)), begin_copy(next_x_ + column, slot(1, v));
      });
  }

  const place& place_;
  memory& of_block_;
  const T *next_dy_, *next_x_;
  i64 stride_, row_, end_;
};

/// Computes the gradient of a normalization of rows. T is the type of x and dy, S of the scale, D of dx.
template <class T, class S, class D>
__device__ void normalize_rows_gradient_of(const normalize_rows_gradient_arguments& r, row_sums& sums,
                                           typename row_pairs<T>::memory& ahead) {
  constexpr int vectors = kernel_arguments::gradient_vectors;
  const thread_in_row<vectors> p(r.all);
  const float of_one = 1 / static_cast<float>(r.all.width);
  float scale[vectors][elements_per_vector] = {};
  p.for_each([&](int v, int column) { read_eight<S>(r.scale.memory, column, scale[v]); });
  unsigned turn = 0;
  for (i64 part = blockIdx.x; part < r.parts; part += gridDim.x) {
    float dscale[vectors][elements_per_vector] = {}, doffset[vectors][elements_per_vector] = {};
    const i64 begin = part * r.all.count / r.parts, end = (part + 1) * r.all.count / r.parts;
    row_pairs<T> of(r, p, ahead, begin + p.row, end);
    D* to = static_cast<D*>(r.dx) + (begin + p.row) * r.all.width;
    for (i64 row = begin + p.row; row - p.row < end; row += p.rows, to += p.rows * r.all.width) {
      const bool is_there = row < end;
      const float mean = is_there && r.all.rms == 0 ? r.mean[row] : 0, deviation = is_there ? r.deviation[row] : 0;
      of.take_next();
      // Calls `f(k, dy, dy * scale, x - mean)` for each element of a vector.
      const auto for_each_of = [&](int v, auto&& f) {
        float x[elements_per_vector], dy[elements_per_vector];
        unpack(of.x[v], x), unpack(of.dy[v], dy);
        for (int k = 0; k < elements_per_vector; ++k) f(k, dy[k], dy[k] * scale[v][k], x[k] - mean);
      };
      float sum[2] = {};  // sums of dy * scale, and of dy * scale * (x - mean)
      if (is_there)
        p.for_each([&](int v, int) {
          float gradients[2] = {}, along[2] = {};
          for_each_of(v, [&](int k, float gradient, float scaled, float centered) {
            gradients[k % 2] += scaled, along[k % 2] = multiply_add(scaled, centered, along[k % 2]);
            dscale[v][k] = multiply_add(gradient, centered * deviation, dscale[v][k]), doffset[v][k] += gradient;
          });
          sum[0] += gradients[0] + gradients[1], sum[1] += along[0] + along[1];
        });
      sum_over_row(sum, p, sums, turn), turn ^= 1;
      if (!is_there) continue;
      const float mean_gradient = r.all.rms != 0 ? 0 : sum[0] * of_one,
                  along = deviation * deviation * (sum[1] * of_one);
      p.for_each([&](int v, int column) {
        float dx[elements_per_vector];
        for_each_of(v, [&](int k, float, float scaled, float centered) {
          dx[k] = deviation * multiply_add(-along, centered, scaled - mean_gradient);
        });
        write_eight_once<D>(to + column, dx);
      });
    }
    const i64 at = (part * p.rows + p.row) * r.all.width;
    p.for_each([&](int v, int column) {
      write_eight<float>(r.dscales, at + column, dscale[v]);
      if (r.doffsets != nullptr) write_eight<float>(r.doffsets, at + column, doffset[v]);
    });
  }
}

/// Calls `f(S{}, D{})` with the types S of the scale and D of the result, for elements of type T. S and D are T or f32;
/// for T = f32, D may be a half type.
template <class T, class F>
__device__ void with_types(dtype of_scale, dtype of_result, F&& f) {
  if constexpr (std::is_same_v<T, float>) {
    if (of_result == dtype::f32)
      f(float{}, float{});
    else if (of_result == dtype::f16)
      f(float{}, __half{});
    else
      f(float{}, __nv_bfloat16{});
  } else if (of_scale == dtype::f32) {
    of_result == dtype::f32 ? f(float{}, float{}) : f(float{}, T{});
  } else {
    of_result == dtype::f32 ? f(T{}, float{}) : f(T{}, T{});
  }
}

template <class T>
__device__ void normalize_rows_gradient(const normalize_rows_gradient_arguments& r) {
  [[maybe_unused]] __shared__ row_sums sums;  // g++ warns that it is unused
  [[maybe_unused]] __shared__ typename row_pairs<T>::memory ahead;
  with_types<T>(r.scale.type, r.type_of_dx,
                [&](auto s, auto d) { normalize_rows_gradient_of<T, decltype(s), decltype(d)>(r, sums, ahead); });
}

BOUNDED_KERNEL(normalize_rows_gradient_f16, kernel_arguments::most_gradient_threads, 1, kernel_arguments::normalize_rows_gradient_arguments, normalize_rows_gradient<__half>)
BOUNDED_KERNEL(normalize_rows_gradient_bf16, kernel_arguments::most_gradient_threads, 1, kernel_arguments::normalize_rows_gradient_arguments, normalize_rows_gradient<__nv_bfloat16>)
BOUNDED_KERNEL(normalize_rows_gradient_f32, kernel_arguments::most_gradient_threads, 1, kernel_arguments::normalize_rows_gradient_arguments, normalize_rows_gradient<float>)

}  // namespace troupe::dnn::on_gpu
