// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/resampling/sampling.hpp>

#include "kernel_image_arguments.hpp"
#include "windows.cuh"

/// Normalization across channels, resampling, and pooling with indexes. A thread computes one element of a result at a
/// time.
namespace troupe::dnn::on_gpu {

/// Returns k + alpha / size * (sum of the squares of the neighboring channels). `x` points to the element of channel 0.
template <class N>
__device__ N divisor_at(const kernel_arguments::response_norm_arguments& r, const N* x, i64 channel) {
  const i64 first = channel - (r.size - 1) / 2;
  N sum = 0;
  for (i64 c = first < 0 ? 0 : first; c < first + r.size && c < r.channels; ++c)
    sum += x[c * r.between] * x[c * r.between];
  return static_cast<N>(r.k) + static_cast<N>(r.alpha / static_cast<double>(r.size)) * sum;
}

template <class N>
__device__ void normalize_responses(const kernel_arguments::response_norm_arguments& r) {
  for (i64 n = first_of_thread(); n < r.images * r.channels * r.between; n += all_threads()) {
    const i64 channel = n / r.between % r.channels;
    const N* const x = static_cast<const N*>(r.x) + n - channel * r.between;
    static_cast<N*>(r.to)[n] = x[channel * r.between] * pow(divisor_at(r, x, channel), static_cast<N>(-r.beta));
  }
}

template <class N>
__device__ void response_gradient(const kernel_arguments::response_norm_arguments& r) {
  const N factor = static_cast<N>(2 * r.alpha * r.beta / static_cast<double>(r.size));
  for (i64 n = first_of_thread(); n < r.images * r.channels * r.between; n += all_threads()) {
    const i64 channel = n / r.between % r.channels, begin = n - channel * r.between;
    const N *const x = static_cast<const N*>(r.x) + begin, *const dy = static_cast<const N*>(r.dy) + begin;
    // The channels whose sums contain this one.
    const i64 before = (r.size - 1) / 2, first = channel - (r.size - 1 - before), last = channel + before;
    N sum = 0, mine = 0;
    for (i64 c = first < 0 ? 0 : first; c <= last && c < r.channels; ++c) {
      const N divisor = divisor_at(r, x, c), power = pow(divisor, static_cast<N>(-r.beta));
      sum += dy[c * r.between] * x[c * r.between] * (power / divisor);
      if (c == channel) mine = dy[c * r.between] * power;
    }
    static_cast<N*>(r.to)[n] = mine - factor * x[channel * r.between] * sum;
  }
}

__device__ inline sampling_axis axis_of(const kernel_arguments::resampling_arguments& r, int i) {
  return {r.in[i], r.out[i], r.taps[i], r.aligned};
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

template <class N>
__device__ void pool_with_indexes(const kernel_arguments::indexed_pooling_arguments& r) {
  const i64 positions = count_of(r.g.out), window_size = count_of(r.g.window);
  for (i64 n = first_of_thread(); n < r.planes * positions; n += all_threads()) {
    const N* const image = static_cast<const N*>(r.x) + n / positions * count_of(r.g.in);
    const position3 position = position3_of(n % positions, r.g.out);
    i64 best = -1;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at = image_element(r.g, position, position3_of(f, r.g.window));
      if (at >= 0 && (best < 0 || is_better(image[at], image[best]))) best = at;
    }
    static_cast<N*>(r.to)[n] = image[best];
    static_cast<N*>(r.found)[n] = static_cast<N>(best);
  }
}

/// Computes the gradient of each element of the image from all windows whose maximum is that element.
template <class N>
__device__ void pool_index_gradient(const kernel_arguments::indexed_pooling_arguments& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), window_size = count_of(r.g.window);
  for (i64 n = first_of_thread(); n < r.planes * inside; n += all_threads()) {
    const i64 plane = n / inside * positions;
    const position3 here = position3_of(n % inside, r.g.in);
    const N number = static_cast<N>(n % inside);
    N sum = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 position = window_position(r.g, here, position3_of(f, r.g.window));
      if (position >= 0 && static_cast<const N*>(r.given)[plane + position] == number)
        sum += static_cast<const N*>(r.dy)[plane + position];
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

KERNELS(normalize_responses, response_norm_arguments, normalize_responses)
KERNELS(response_gradient, response_norm_arguments, response_gradient)
KERNELS(resample, resampling_arguments, resample)
KERNELS(resampling_gradient, resampling_arguments, resampling_gradient)
KERNELS(pool_with_indexes, indexed_pooling_arguments, pool_with_indexes)
KERNELS(pool_index_gradient, indexed_pooling_arguments, pool_index_gradient)

}  // namespace troupe::dnn::on_gpu
