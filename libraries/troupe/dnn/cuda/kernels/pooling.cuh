// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>

#include "kernel_image_arguments.hpp"
#include "windows.cuh"

/// Pooling, with indexes and without, and its gradients. A thread computes one element of a result at a time.
namespace troupe::dnn::on_gpu {

template <class N>
__device__ bool is_better(N x, N best) {
  return x > best || (x != x && best == best);
}

template <class N>
__device__ void pool(const kernel_arguments::pooling_arguments& r) {
  const i64 positions = count_of(r.g.out), window_size = count_of(r.g.window);
  for (i64 n = first_of_thread(); n < r.planes * positions; n += all_threads()) {
    const N* const image = static_cast<const N*>(r.x) + n / positions * count_of(r.g.in);
    const position3 position = position3_of(n % positions, r.g.out);
    N best = 0, sum = 0;
    i64 count = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at = image_element(r.g, position, position3_of(f, r.g.window));
      if (at < 0) continue;
      if (count++ == 0 || is_better(image[at], best)) best = image[at];
      sum += image[at];
    }
    const auto kind = static_cast<pooling_kind>(r.kind);
    static_cast<N*>(r.to)[n] =
        kind == pooling_kind::maximum ? best : sum / static_cast<N>(kind == pooling_kind::mean ? window_size : count);
  }
}

/// Computes the gradient of each element of the image from the results of all windows that contain it.
template <class N>
__device__ void pool_gradient(const kernel_arguments::pooling_arguments& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), window_size = count_of(r.g.window);
  const auto kind = static_cast<pooling_kind>(r.kind);
  for (i64 n = first_of_thread(); n < r.planes * inside; n += all_threads()) {
    const i64 plane = n / inside;
    const position3 here = position3_of(n % inside, r.g.in);
    N sum = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at_result = window_position(r.g, here, position3_of(f, r.g.window));
      if (at_result < 0) continue;
      const position3 position = position3_of(at_result, r.g.out);
      i64 best = -1, count = 0;
      for (i64 w = 0; kind != pooling_kind::mean && w < window_size; ++w) {
        const i64 at = image_element(r.g, position, position3_of(w, r.g.window));
        if (at < 0) continue;
        ++count;
        if (kind != pooling_kind::maximum) continue;
        const N* const image = static_cast<const N*>(r.x) + plane * inside;
        if (best < 0 || is_better(image[at], image[best])) best = at;
      }
      const N d = static_cast<const N*>(r.dy)[plane * positions + at_result];
      if (kind == pooling_kind::maximum)
        sum += best == n % inside ? d : N(0);
      else
        sum += d / static_cast<N>(kind == pooling_kind::mean ? window_size : count);
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

KERNELS(pool, pooling_arguments, pool)
KERNELS(pool_gradient, pooling_arguments, pool_gradient)
KERNELS(pool_with_indexes, indexed_pooling_arguments, pool_with_indexes)
KERNELS(pool_index_gradient, indexed_pooling_arguments, pool_index_gradient)

}  // namespace troupe::dnn::on_gpu
