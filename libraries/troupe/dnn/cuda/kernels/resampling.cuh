// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/resampling/sampling.hpp>

#include "kernel_image_arguments.hpp"
#include "windows.cuh"

/// Resampling and its gradient. A thread computes one element of a result at a time.
namespace troupe::dnn::on_gpu {

__device__ inline sampling_axis axis_of(const kernel_arguments::resampling_arguments& r, int i) {
  return {r.in[i], r.out[i], r.taps[i], r.coordinates, r.rounding};
}

template <class N>
__device__ void resample(const kernel_arguments::resampling_arguments& r) {
  const sampling_axis a = axis_of(r, 0), b = axis_of(r, 1), c = axis_of(r, 2);
  const i64 positions = count_of(r.out);
  for (i64 n = first_of_thread(); n < r.planes * positions; n += all_threads()) {
    const N* const image = static_cast<const N*>(r.from) + n / positions * count_of(r.in);
    const position3 o = position3_of(n % positions, r.out);
    N rest_a = 0, rest_b = 0, rest_c = 0;
    const i64 first_a = a.first(o.depth, rest_a), first_b = b.first(o.height, rest_b),
              first_c = c.first(o.width, rest_c);
    N sum = 0;
    for (i64 i = 0; i < a.taps; ++i)
      for (i64 j = 0; j < b.taps; ++j) {
        const N* const line = image + (a.on_image(first_a + i) * b.in + b.on_image(first_b + j)) * c.in;
        N along = 0;
        for (i64 k = 0; k < c.taps; ++k) along += sampling_weight(c.taps, k, rest_c) * line[c.on_image(first_c + k)];
        sum += sampling_weight(a.taps, i, rest_a) * sampling_weight(b.taps, j, rest_b) * along;
      }
    static_cast<N*>(r.to)[n] = sum;
  }
}

/// Returns the weight with which element i of the image contributes to element o of the result.
template <class N>
__device__ N weight_of(const sampling_axis& a, i64 i, i64 o) {
  N rest = 0, sum = 0;
  const i64 first = a.first(o, rest);
  for (i64 k = 0; k < a.taps; ++k)
    if (a.on_image(first + k) == i) sum += sampling_weight(a.taps, k, rest);
  return sum;
}

/// Computes the gradient of each element of the image from all elements of the result that are interpolated from it.
template <class N>
__device__ void resampling_gradient(const kernel_arguments::resampling_arguments& r) {
  const sampling_axis a = axis_of(r, 0), b = axis_of(r, 1), c = axis_of(r, 2);
  const i64 inside = count_of(r.in);
  for (i64 n = first_of_thread(); n < r.planes * inside; n += all_threads()) {
    const N* const dy = static_cast<const N*>(r.from) + n / inside * count_of(r.out);
    const position3 i = position3_of(n % inside, r.in);
    const i64 first_b = b.first_user(i.height), last_b = b.last_user(i.height), first_c = c.first_user(i.width),
              last_c = c.last_user(i.width);
    N sum = 0;
    for (i64 p = a.first_user(i.depth); p < a.last_user(i.depth); ++p) {
      const N of_plane = weight_of<N>(a, i.depth, p);
      for (i64 q = first_b; q < last_b; ++q) {
        N along = 0;
        for (i64 o = first_c; o < last_c; ++o) along += weight_of<N>(c, i.width, o) * dy[(p * b.out + q) * c.out + o];
        sum += of_plane * weight_of<N>(b, i.height, q) * along;
      }
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

KERNELS(resample, resampling_arguments, resample)
KERNELS(resampling_gradient, resampling_arguments, resampling_gradient)

}  // namespace troupe::dnn::on_gpu
