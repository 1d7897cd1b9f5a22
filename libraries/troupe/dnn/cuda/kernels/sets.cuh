// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <troupe/dnn/graph/kinds.hpp>

#include "elements.cuh"

/// Reductions, softmax and normalizations: operations that combine the elements of sets. A block computes one set after
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

/// The steps of a reduction: combine `prepared` elements from `start` on, then compute `finished`.
struct reducer {
  reduction_kind kind;

  __device__ double start() const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return kind == reduction_kind::maximum   ? -infinite
           : kind == reduction_kind::minimum ? infinite
           : kind == reduction_kind::product ? 1.0
                                             : 0.0;
  }
  __device__ double prepared(double v) const {
    if (kind == reduction_kind::absolute_maximum || kind == reduction_kind::norm1) return fabs(v);
    return kind == reduction_kind::norm2 ? v * v : v;
  }
  __device__ double operator()(double a, double b) const {
    switch (kind) {
      case reduction_kind::maximum:
      case reduction_kind::absolute_maximum:
        return a > b || a != a ? a : b;
      case reduction_kind::minimum:
        return a < b || a != a ? a : b;
      case reduction_kind::product:
        return a * b;
      default:
        return a + b;
    }
  }
  __device__ double finished(double v, i64 count) const {
    if (kind == reduction_kind::mean) return v / static_cast<double>(count);
    return kind == reduction_kind::norm2 ? sqrt(v) : v;
  }
};

/// Reduces each set, or, if sets have several parts, each part of a set.
template <class N>
__device__ void reduce(const kernel_arguments::reduction_arguments& r) {
  const reducer combine{static_cast<reduction_kind>(r.kind)};
  const i64 count = r.all.inside.count;
  for (i64 b = blockIdx.x; b < r.all.outside.count * r.parts; b += gridDim.x) {
    const i64 s = b / r.parts, part = b % r.parts, end = count * (part + 1) / r.parts;
    const N* const x = static_cast<const N*>(r.x) + offsets_of(r.all.outside, s).x;
    double mine = combine.start();
    for (i64 i = count * part / r.parts + threadIdx.x; i < end; i += set_threads)
      mine = combine(mine, combine.prepared(static_cast<double>(x[offsets_of(r.all.inside, i).x])));
    const double v = combine_threads(mine, combine);
    if (threadIdx.x != 0) continue;
    if (r.parts == 1)
      static_cast<N*>(r.y)[s] = static_cast<N>(combine.finished(v, count));
    else
      r.partial[b] = v;
  }
}
/// Combines the parts of each set.
template <class N>
__device__ void reduce_parts(const kernel_arguments::reduction_arguments& r) {
  const reducer combine{static_cast<reduction_kind>(r.kind)};
  for (i64 s = blockIdx.x; s < r.all.outside.count; s += gridDim.x) {
    double mine = combine.start();
    for (i64 i = threadIdx.x; i < r.parts; i += set_threads) mine = combine(mine, r.partial[s * r.parts + i]);
    const double v = combine_threads(mine, combine);
    if (threadIdx.x == 0) static_cast<N*>(r.y)[s] = static_cast<N>(combine.finished(v, r.all.inside.count));
  }
}

template <class N>
__device__ void softmax(const kernel_arguments::softmax_arguments& r) {
  for_each_set(r.all, [&](i64, const offsets& at) {
    const N* const x = static_cast<const N*>(r.x) + at.x;
    N* const y = static_cast<N*>(r.to) + at.x;
    double mine = -std::numeric_limits<double>::infinity();
    const auto larger = [](double a, double b) { return a > b || a != a ? a : b; };
    for (i64 i = threadIdx.x; i < r.all.inside.count; i += set_threads)
      mine = larger(mine, static_cast<double>(x[offsets_of(r.all.inside, i).x]));
    const N most = static_cast<N>(combine_threads(mine, larger));
    const double sum =
        sum_of_set(r.all.inside, [&](const offsets& p) { return static_cast<double>(exp(x[p.x] - most)); });
    for (i64 i = threadIdx.x; i < r.all.inside.count; i += set_threads) {
      const i64 p = offsets_of(r.all.inside, i).x;
      y[p] = r.logarithmic != 0 ? x[p] - most - static_cast<N>(log(sum))
                                : static_cast<N>(static_cast<double>(exp(x[p] - most)) / sum);
    }
  });
}
template <class N>
__device__ void softmax_gradient(const kernel_arguments::softmax_arguments& r) {
  for_each_set(r.all, [&](i64, const offsets& at) {
    const N* const y = static_cast<const N*>(r.x) + at.x;
    const N* const dy = static_cast<const N*>(r.dy) + at.x;
    const N sum = static_cast<N>(sum_of_set(r.all.inside, [&](const offsets& p) {
      return static_cast<double>(dy[p.x]) * (r.logarithmic != 0 ? 1.0 : static_cast<double>(y[p.x]));
    }));
    for (i64 i = threadIdx.x; i < r.all.inside.count; i += set_threads) {
      const i64 p = offsets_of(r.all.inside, i).x;
      static_cast<N*>(r.to)[at.x + p] = r.logarithmic != 0 ? dy[p] - exp(y[p]) * sum : y[p] * (dy[p] - sum);
    }
  });
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

KERNELS(reduce, reduction_arguments, reduce)
KERNELS(reduce_parts, reduction_arguments, reduce_parts)
KERNELS(softmax, softmax_arguments, softmax)
KERNELS(softmax_gradient, softmax_arguments, softmax_gradient)
KERNELS(normalize, normalization_arguments, normalize)
KERNELS(normalization_gradient, normalization_gradient_arguments, normalization_gradient)
KERNELS(scale_gradient, normalization_gradient_arguments, scale_gradient)

}  // namespace troupe::dnn::on_gpu
