// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "columns_arguments.hpp"
#include "rows.cuh"

/// Normalizations over all axes but the channels, for tensors whose channels are neighbors in memory. A row is all
/// channels of one position of one image. Blocks sum parts of the rows; the sums of the parts are combined in a fixed
/// order.
namespace troupe::dnn::on_gpu {

using kernel_arguments::column_threads, kernel_arguments::most_lanes, kernel_arguments::channels_of_block;

/// A thread's elements of a tile. A tile is a group of channels in a part of the rows; a thread has eight of its
/// channels in some of its rows.
struct column_tile {
  i64 channels;    // channels of the tensor
  i64 channel;     // the first of the thread's eight channels
  i64 first, end;  // the thread's first row, and the end of the part's rows
  i64 rows;        // rows that the block reads at once

  __device__ column_tile(const kernel_arguments::columns& c, unsigned part, unsigned group)
      : channels(c.channels),
        channel((static_cast<i64>(group) * c.lanes + threadIdx.x % c.lanes) * elements_per_vector),
        first(part * c.rows_of_part + threadIdx.x / c.lanes),
        end((part + 1) * c.rows_of_part),
        rows(column_threads / c.lanes) {
    if (end > c.rows) end = c.rows;
    if (channel >= channels) end = 0;  // the thread has no rows
  }

  __device__ bool has_rows() const { return first < end; }
  __device__ i64 begin() const { return first * channels + channel; }
  /// Calls `use(read(offset), offset)` for each of the thread's rows. Reads several rows before it uses the first of
  /// them.
  template <class Read, class Use>
  __device__ void for_each_row(const Read& read, const Use& use) const {
    // Rows read ahead: as many as fit in registers.
    constexpr int ahead = sizeof(read(i64{})) == sizeof(eight<half>) ? 4 : 2;
    const i64 stride = rows * channels;
    i64 at = begin();
    for (i64 row = first; row < end; row += ahead * rows, at += ahead * stride) {
      decltype(read(at)) some[ahead] = {};
      for (int k = 0; k < ahead; ++k)
        if (row + k * rows < end) some[k] = read(at + k * stride);
      for (int k = 0; k < ahead; ++k)
        if (row + k * rows < end) use(some[k], at + k * stride);
    }
  }
};
template <class F>
__device__ void for_each_column_tile(const kernel_arguments::columns& c, const F& f) {
  for (unsigned share = blockIdx.x; share < c.parts * c.groups; share += gridDim.x) {
    const unsigned part = share / c.groups, group = share - part * c.groups;
    f(column_tile(c, part, group), part, group);
  }
}

/// Sums the threads' values of each channel in a fixed order, and writes the sums of this part and group to `to`, which
/// is indexed by part and channel. All threads of the block must call it.
__device__ inline void write_sums(const double (&mine)[elements_per_vector], const kernel_arguments::columns& c,
                                  unsigned part, unsigned group, double* to) {
  static_assert(column_threads == elements_per_vector * most_lanes);
  __shared__ double all[elements_per_vector][column_threads], partly[elements_per_vector][most_lanes];
  const unsigned k = threadIdx.x / most_lanes, lane = threadIdx.x % most_lanes;
  for (int i = 0; i < elements_per_vector; ++i) all[i][threadIdx.x] = mine[i];
  __syncthreads();
  double sum = 0;
  for (unsigned i = 0; i < column_threads; i += most_lanes) sum += all[k][i + lane];
  partly[k][lane] = sum;
  __syncthreads();
  const i64 channel = (static_cast<i64>(group) * c.lanes + lane) * elements_per_vector + k;
  if (lane >= c.lanes || channel >= c.channels) return;
  sum = 0;
  for (unsigned i = lane; i < most_lanes; i += c.lanes) sum += partly[k][i];
  to[part * c.channels + channel] = sum;
}

/// A parameter's elements in a thread's eight channels; `otherwise` if the parameter is absent.
struct eight_channels {
  float of[elements_per_vector];
  __device__ eight_channels(const float* from, const column_tile& p, float otherwise) {
    for (int k = 0; k < elements_per_vector; ++k)
      of[k] = from != nullptr && p.has_rows() ? from[p.channel + k] : otherwise;
  }
  __device__ float operator[](int k) const { return of[k]; }
};

template <class T>
__device__ void sum_columns(const kernel_arguments::sum_columns_arguments& r) {
  for_each_column_tile(r.all, [&](const column_tile& p, unsigned part, unsigned group) {
    // A thread sums differences from its first row, so that float suffices even if the mean is large.
    float shift[elements_per_vector] = {}, sums[elements_per_vector] = {}, squares[elements_per_vector] = {};
    if (p.has_rows()) unpack(read_eight<T>(r.x.memory, p.begin()), r.x.type, shift);
    i64 count = 0;
    p.for_each_row([&](i64 at) { return read_eight<T>(r.x.memory, at); },
                   [&](const eight<T>& from, i64) {
                     float x[elements_per_vector];
                     unpack(from, r.x.type, x);
                     for (int k = 0; k < elements_per_vector; ++k) {
                       const float d = x[k] - shift[k];
                       sums[k] += d, squares[k] = multiply_add(d, d, squares[k]);
                     }
                     ++count;
                   });
    double sum[elements_per_vector], square[elements_per_vector];
    for (int k = 0; k < elements_per_vector; ++k) {
      const auto s = static_cast<double>(shift[k]), of = static_cast<double>(sums[k]), n = static_cast<double>(count);
      sum[k] = of + n * s, square[k] = static_cast<double>(squares[k]) + s * (2 * of + n * s);
    }
    write_sums(sum, r.all, part, group, r.sums);
    write_sums(square, r.all, part, group, r.squares);
  });
}

/// Calls `f(channel, sum of first over the parts, sum of second over the parts)` for each channel, in one thread.
template <class F>
__device__ void combine_parts(const kernel_arguments::columns& c, const double* first, const double* second,
                              const F& f) {
  __shared__ double of_first[column_threads], of_second[column_threads];
  const unsigned me = threadIdx.x, slot = me / channels_of_block;
  for (i64 begin = static_cast<i64>(blockIdx.x) * channels_of_block; begin < c.channels;
       begin += static_cast<i64>(gridDim.x) * channels_of_block) {
    const i64 channel = begin + me % channels_of_block;
    double a = 0, b = 0;
    for (unsigned part = slot; part < c.parts; part += column_threads / channels_of_block)
      a += first[part * c.channels + channel], b += second[part * c.channels + channel];
    of_first[me] = a, of_second[me] = b;
    __syncthreads();
    for (unsigned half = column_threads / 2; half >= channels_of_block; half /= 2) {
      if (me < half) of_first[me] += of_first[me + half], of_second[me] += of_second[me + half];
      __syncthreads();
    }
    if (slot == 0) f(channel, of_first[me], of_second[me]);
    __syncthreads();
  }
}

template <class>
__device__ void combine_columns(const kernel_arguments::combine_columns_arguments& r) {
  const auto count = static_cast<double>(r.all.rows);
  combine_parts(r.all, r.sums, r.squares, [&](i64 c, double sum, double square) {
    const double mean = sum / count, rest = square - sum * mean;
    const double squares = rest < 0 ? 0 : rest;  // fmax would drop NaN
    r.mean[c] = static_cast<float>(mean), r.deviation[c] = static_cast<float>(1 / sqrt(squares / count + r.epsilon));
    if (r.running_mean == nullptr) return;
    const auto next = [&](float before, double here) {
      return static_cast<float>((1 - r.momentum) * static_cast<double>(before) + r.momentum * here);
    };
    r.next_mean[c] = next(r.running_mean[c], mean);
    r.next_variance[c] = next(r.running_variance[c], squares / (count > 1 ? count - 1 : 1));
  });
}

template <class T>
__device__ void normalize_columns(const kernel_arguments::normalize_columns_arguments& r) {
  for_each_column_tile(r.all, [&](const column_tile& p, unsigned, unsigned) {
    const eight_channels mean(r.mean, p, 0), deviation(r.deviation, p, 1), scale(r.scale, p, 1), offset(r.offset, p, 0);
    float factor[elements_per_vector];
    for (int k = 0; k < elements_per_vector; ++k) factor[k] = deviation[k] * scale[k];
    p.for_each_row([&](i64 at) { return read_eight<T>(r.x.memory, at); },
                   [&](const eight<T>& from, i64 at) {
                     float x[elements_per_vector], y[elements_per_vector];
                     unpack(from, r.x.type, x);
                     for (int k = 0; k < elements_per_vector; ++k)
                       y[k] = multiply_add(x[k] - mean[k], factor[k], offset[k]);
                     write_eight(r.type_of_y, r.y, at, y);
                   });
  });
}

/// The elements of dy and x in one row and eight channels.
template <class X, class Dy>
struct pair_of_eight {
  eight<Dy> dy;
  eight<X> x;

  template <class Arguments>
  __device__ static pair_of_eight at(const Arguments& r, i64 offset) {
    return {read_eight<Dy>(r.dy.memory, offset), read_eight<X>(r.x.memory, offset)};
  }
  template <class Arguments>
  __device__ void unpack_to(const Arguments& r, float (&of_dy)[elements_per_vector],
                            float (&of_x)[elements_per_vector]) const {
    unpack(dy, r.dy.type, of_dy), unpack(x, r.x.type, of_x);
  }
};

template <class X, class Dy = X>
__device__ void sum_columns_gradient(const kernel_arguments::sum_columns_gradient_arguments& r) {
  using both = pair_of_eight<X, Dy>;
  for_each_column_tile(r.all, [&](const column_tile& p, unsigned part, unsigned group) {
    const eight_channels mean(r.mean, p, 0);
    float gradients[elements_per_vector] = {}, along[elements_per_vector] = {};
    p.for_each_row([&](i64 at) { return both::at(r, at); },
                   [&](const both& from, i64) {
                     float dy[elements_per_vector], x[elements_per_vector];
                     from.unpack_to(r, dy, x);
                     for (int k = 0; k < elements_per_vector; ++k)
                       gradients[k] += dy[k], along[k] = multiply_add(dy[k], x[k] - mean[k], along[k]);
                   });
    const eight_channels deviation(r.deviation, p, 1);
    double gradient[elements_per_vector], product[elements_per_vector];
    for (int k = 0; k < elements_per_vector; ++k) {
      gradient[k] = static_cast<double>(gradients[k]);
      product[k] = static_cast<double>(along[k]) * static_cast<double>(deviation[k]);
    }
    write_sums(gradient, r.all, part, group, r.gradients);
    write_sums(product, r.all, part, group, r.along);
  });
}

template <class>
__device__ void combine_columns_gradient(const kernel_arguments::combine_columns_gradient_arguments& r) {
  const auto count = static_cast<double>(r.all.rows);
  combine_parts(r.all, r.gradients, r.along, [&](i64 c, double gradient, double along) {
    r.mean_gradient[c] = static_cast<float>(gradient / count), r.mean_along[c] = static_cast<float>(along / count);
    if (r.dscale != nullptr) r.dscale[c] = static_cast<float>(along), r.doffset[c] = static_cast<float>(gradient);
  });
}

/// Coefficients in eight channels: dx = dy * factor + x * along + rest.
struct channel_gradients {
  float factor[elements_per_vector], along[elements_per_vector], rest[elements_per_vector];

  __device__ channel_gradients(const kernel_arguments::normalize_columns_gradient_arguments& r, const column_tile& p) {
    const eight_channels mean(r.mean, p, 0), deviation(r.deviation, p, 1), scale(r.scale, p, 1),
        mean_gradient(r.mean_gradient, p, 0), mean_along(r.mean_along, p, 0);
    for (int k = 0; k < elements_per_vector; ++k) {
      factor[k] = deviation[k] * scale[k];
      along[k] = -(factor[k] * deviation[k] * mean_along[k]);
      rest[k] = -multiply_add(mean[k], along[k], factor[k] * mean_gradient[k]);
    }
  }
};

template <class X, class Dy = X>
__device__ void normalize_columns_gradient(const kernel_arguments::normalize_columns_gradient_arguments& r) {
  using both = pair_of_eight<X, Dy>;
  for_each_column_tile(r.all, [&](const column_tile& p, unsigned, unsigned) {
    const channel_gradients of(r, p);
    p.for_each_row([&](i64 at) { return both::at(r, at); },
                   [&](const both& from, i64 at) {
                     float dy[elements_per_vector], x[elements_per_vector], dx[elements_per_vector];
                     from.unpack_to(r, dy, x);
                     for (int k = 0; k < elements_per_vector; ++k)
                       dx[k] = multiply_add(dy[k], of.factor[k], multiply_add(x[k], of.along[k], of.rest[k]));
                     write_eight(r.type_of_dx, r.dx, at, dx);
                   });
  });
}

BOUNDED_KERNEL(sum_columns_f16, kernel_arguments::column_threads, 3, kernel_arguments::sum_columns_arguments, sum_columns<troupe::half>)
BOUNDED_KERNEL(normalize_columns_f16, kernel_arguments::column_threads, 3, kernel_arguments::normalize_columns_arguments, normalize_columns<troupe::half>)
BOUNDED_KERNEL(sum_columns_gradient_f16, kernel_arguments::column_threads, 3, kernel_arguments::sum_columns_gradient_arguments, sum_columns_gradient<troupe::half>)
BOUNDED_KERNEL(normalize_columns_gradient_f16, kernel_arguments::column_threads, 3, kernel_arguments::normalize_columns_gradient_arguments, normalize_columns_gradient<troupe::half>)
BOUNDED_KERNEL(sum_columns_f32, kernel_arguments::column_threads, 3, kernel_arguments::sum_columns_arguments, sum_columns<float>)
BOUNDED_KERNEL(normalize_columns_f32, kernel_arguments::column_threads, 3, kernel_arguments::normalize_columns_arguments, normalize_columns<float>)
BOUNDED_KERNEL(sum_columns_gradient_f32, kernel_arguments::column_threads, 3, kernel_arguments::sum_columns_gradient_arguments, sum_columns_gradient<float>)
BOUNDED_KERNEL(normalize_columns_gradient_f32, kernel_arguments::column_threads, 3, kernel_arguments::normalize_columns_gradient_arguments, normalize_columns_gradient<float>)
BOUNDED_KERNEL(sum_mixed_columns_gradient_f32, kernel_arguments::column_threads, 3, kernel_arguments::sum_columns_gradient_arguments, sum_columns_gradient<troupe::half, float>)
BOUNDED_KERNEL(normalize_mixed_columns_gradient_f32, kernel_arguments::column_threads, 3, kernel_arguments::normalize_columns_gradient_arguments, normalize_columns_gradient<troupe::half, float>)
KERNEL(combine_columns_f32, kernel_arguments::combine_columns_arguments, combine_columns<float>)
KERNEL(combine_columns_gradient_f32, kernel_arguments::combine_columns_gradient_arguments, combine_columns_gradient<float>)

}  // namespace troupe::dnn::on_gpu
