// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "elements.cuh"

/// Normalizations: operations that combine the elements of sets. A block computes one set after
/// another; its threads share the elements of the set. Sums are in double and in a fixed order.
namespace troupe::dnn::on_gpu {

using kernel_arguments::set_threads;

struct offsets {
  i64 x = 0, scale = 0, statistics = 0;
};
__device__ inline offsets offsets_of(const kernel_arguments::set_axes& all, i64 n) {
  offsets out;
  for (i64 i = all.rank; i-- > 0;) {
    // Sets of one axis, which are frequent, need no division.
    const i64 at = i == 0 ? n : n % all.extents[i];
    if (i != 0) n /= all.extents[i];
    out.x += at * all.x[i], out.scale += at * all.scale[i], out.statistics += at * all.statistics[i];
  }
  return out;
}

/// Combines the values `mine` of all threads of the block, and returns the result in each of them.
template <class Combine>
__device__ double combine_threads(double mine, const Combine& combine) {
  __shared__ double all[set_threads];
  all[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = set_threads / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) all[threadIdx.x] = combine(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
  const double out = all[0];
  __syncthreads();
  return out;
}
template <class Value>
__device__ double sum_of_set(const kernel_arguments::set_axes& inside, const Value& value) {
  double mine = 0;
  for (i64 i = threadIdx.x; i < inside.count; i += set_threads) mine += value(offsets_of(inside, i));
  return combine_threads(mine, [](double a, double b) { return a + b; });
}
template <class F>
__device__ void for_each_set(const kernel_arguments::sets& all, const F& f) {
  for (i64 s = blockIdx.x; s < all.outside.count; s += gridDim.x) f(s, offsets_of(all.outside, s));
}

template <class N>
__device__ void normalize(const kernel_arguments::normalization_arguments& r) {
  const auto count = static_cast<double>(r.all.inside.count);
  for_each_set(r.all, [&](i64 s, const offsets& at) {
    const N* const x = static_cast<const N*>(r.x) + at.x;
    double mean = 0;
    if (r.rms == 0)
      mean = sum_of_set(r.all.inside, [&](const offsets& p) { return static_cast<double>(x[p.x]); }) / count;
    const double squares = sum_of_set(r.all.inside, [&](const offsets& p) {
      const double d = static_cast<double>(x[p.x]) - mean;
      return d * d;
    });
    const N m = static_cast<N>(mean), deviation = static_cast<N>(1 / sqrt(squares / count + r.epsilon));
    if (threadIdx.x == 0) {
      static_cast<N*>(r.mean)[s] = m, static_cast<N*>(r.deviation)[s] = deviation;
      if (r.running_mean != nullptr) {
        const auto next = [&](const void* before, double here) {
          return static_cast<N>((1 - r.momentum) * static_cast<double>(static_cast<const N*>(before)[s]) +
                                r.momentum * here);
        };
        static_cast<N*>(r.next_mean)[s] = next(r.running_mean, mean);
        static_cast<N*>(r.next_variance)[s] = next(r.running_variance, squares / (count > 1 ? count - 1 : 1));
      }
    }
    for (i64 i = threadIdx.x; i < r.all.inside.count; i += set_threads) {
      const offsets p = offsets_of(r.all.inside, i);
      N y = (x[p.x] - m) * deviation;
      if (r.scale != nullptr) y *= static_cast<const N*>(r.scale)[at.scale + p.scale];
      if (r.offset != nullptr) y += static_cast<const N*>(r.offset)[at.scale + p.scale];
      static_cast<N*>(r.y)[at.x + p.x] = y;
    }
  });
}

/// Computes dx. A set is the elements that share statistics.
template <class N>
__device__ void normalization_gradient(const kernel_arguments::normalization_gradient_arguments& r) {
  const auto count = static_cast<double>(r.all.inside.count);
  for_each_set(r.all, [&](i64 s, const offsets& at) {
    const N *const x = static_cast<const N*>(r.x) + at.x, *const dy = static_cast<const N*>(r.dy) + at.x;
    const double m = static_cast<double>(static_cast<const N*>(r.mean)[s]),
                 deviation = static_cast<double>(static_cast<const N*>(r.deviation)[s]);
    const auto gradient = [&](const offsets& p) {
      const auto d = static_cast<double>(dy[p.x]);
      return r.scale == nullptr ? d : d * static_cast<double>(static_cast<const N*>(r.scale)[at.scale + p.scale]);
    };
    const auto normal = [&](const offsets& p) { return (static_cast<double>(x[p.x]) - m) * deviation; };
    const double mean = r.rms != 0 ? 0 : sum_of_set(r.all.inside, gradient) / count;
    const double along = sum_of_set(r.all.inside, [&](const offsets& p) { return gradient(p) * normal(p); }) / count;
    for (i64 i = threadIdx.x; i < r.all.inside.count; i += set_threads) {
      const offsets p = offsets_of(r.all.inside, i);
      static_cast<N*>(r.dx)[at.x + p.x] = static_cast<N>(deviation * (gradient(p) - mean - normal(p) * along));
    }
  });
}
/// Computes the gradients of scale and offset. A set is the elements that share an element of the scale.
template <class N>
__device__ void scale_gradient(const kernel_arguments::normalization_gradient_arguments& r) {
  for_each_set(r.all, [&](i64 s, const offsets& at) {
    const N *const x = static_cast<const N*>(r.x) + at.x, *const dy = static_cast<const N*>(r.dy) + at.x;
    const double scale = sum_of_set(r.all.inside, [&](const offsets& p) {
      const i64 set = at.statistics + p.statistics;
      return static_cast<double>(dy[p.x]) *
             (static_cast<double>(x[p.x]) - static_cast<double>(static_cast<const N*>(r.mean)[set])) *
             static_cast<double>(static_cast<const N*>(r.deviation)[set]);
    });
    const double offset =
        r.doffset == nullptr ? 0
                             : sum_of_set(r.all.inside, [&](const offsets& p) { return static_cast<double>(dy[p.x]); });
    if (threadIdx.x != 0) return;
    static_cast<N*>(r.dscale)[s] = static_cast<N>(scale);
    if (r.doffset != nullptr) static_cast<N*>(r.doffset)[s] = static_cast<N>(offset);
  });
}

KERNELS(normalize, normalization_arguments, normalize)
KERNELS(normalization_gradient, normalization_gradient_arguments, normalization_gradient)
KERNELS(scale_gradient, normalization_gradient_arguments, scale_gradient)

}  // namespace troupe::dnn::on_gpu
