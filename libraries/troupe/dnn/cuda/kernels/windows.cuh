// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>

#include "sets.cuh"

/// Operations that slide a window over images. One thread computes an element of a result, and one block an element of
/// the filters' gradient: no two add to the same element.
namespace troupe::dnn::on_gpu {

/// Coordinates along three axes, of which the last is the fastest.
struct position3 {
  i64 depth, height, width;
};
__device__ inline position3 position3_of(i64 n, const i64 (&extents)[3]) {
  return {n / (extents[2] * extents[1]), n / extents[2] % extents[1], n % extents[2]};
}
__device__ inline i64 count_of(const i64 (&extents)[3]) { return extents[0] * extents[1] * extents[2]; }

/// Returns the index of the image element under window element f at `position`; -1 if it is outside the image.
__device__ inline i64 image_element(const windows::geometry& g, const position3& position, const position3& f) {
  const i64 x = position.depth * g.stride[0] - g.padding_before[0] + f.depth * g.dilation[0],
            y = position.height * g.stride[1] - g.padding_before[1] + f.height * g.dilation[1],
            z = position.width * g.stride[2] - g.padding_before[2] + f.width * g.dilation[2];
  if (x < 0 || x >= g.in[0] || y < 0 || y >= g.in[1] || z < 0 || z >= g.in[2]) return -1;
  return (x * g.in[1] + y) * g.in[2] + z;
}
/// Returns the index of the window position at which window element f is above the element `image`; -1 if there is no
/// such position.
__device__ inline i64 window_position(const windows::geometry& g, const position3& image, const position3& f) {
  const i64 at[3] = {image.depth + g.padding_before[0] - f.depth * g.dilation[0],
                     image.height + g.padding_before[1] - f.height * g.dilation[1],
                     image.width + g.padding_before[2] - f.width * g.dilation[2]};
  i64 position = 0;
  for (int i = 0; i < 3; ++i) {
    if (at[i] < 0 || at[i] % g.stride[i] != 0 || at[i] / g.stride[i] >= g.out[i]) return -1;
    position = position * g.out[i] + at[i] / g.stride[i];
  }
  return position;
}

template <class N>
__device__ void convolution(const kernel_arguments::convolution_arguments& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), window_size = count_of(r.g.window),
            filter_count = r.groups * r.out_channels;
  const N *const x = static_cast<const N*>(r.a), *const filters = static_cast<const N*>(r.b);
  for (i64 n = first_of_thread(); n < r.images * filter_count * positions; n += all_threads()) {
    const i64 plane = n / positions, k = plane % filter_count;
    const position3 position = position3_of(n % positions, r.g.out);
    const i64 first = (plane / filter_count * r.groups + k / r.out_channels) * r.channels;
    N sum = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at = image_element(r.g, position, position3_of(f, r.g.window));
      if (at < 0) continue;
      for (i64 c = 0; c < r.channels; ++c)
        sum = multiply_add(x[(first + c) * inside + at], filters[(k * r.channels + c) * window_size + f], sum);
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

template <class N>
__device__ void convolution_data_gradient(const kernel_arguments::convolution_arguments& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), window_size = count_of(r.g.window),
            image_channels = r.groups * r.channels;
  const N *const dy = static_cast<const N*>(r.a), *const filters = static_cast<const N*>(r.b);
  for (i64 n = first_of_thread(); n < r.images * image_channels * inside; n += all_threads()) {
    const i64 plane = n / inside, c = plane % image_channels % r.channels, group = plane % image_channels / r.channels;
    const position3 image = position3_of(n % inside, r.g.in);
    const i64 first = (plane / image_channels * r.groups + group) * r.out_channels;
    N sum = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at = window_position(r.g, image, position3_of(f, r.g.window));
      if (at < 0) continue;
      for (i64 k = 0; k < r.out_channels; ++k)
        sum = multiply_add(dy[(first + k) * positions + at],
                           filters[((group * r.out_channels + k) * r.channels + c) * window_size + f], sum);
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

template <class N>
__device__ void convolution_weight_gradient(const kernel_arguments::convolution_arguments& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), window_size = count_of(r.g.window),
            filter_count = r.groups * r.out_channels;
  const N *const dy = static_cast<const N*>(r.a), *const x = static_cast<const N*>(r.b);
  for (i64 n = blockIdx.x; n < filter_count * r.channels * window_size; n += gridDim.x) {
    const i64 k = n / (r.channels * window_size), c = n / window_size % r.channels;
    const position3 f = position3_of(n % window_size, r.g.window);
    double mine = 0;
    for (i64 i = threadIdx.x; i < r.images * positions; i += set_threads) {
      const i64 image = i / positions, position = i % positions;
      const i64 at = image_element(r.g, position3_of(position, r.g.out), f);
      if (at >= 0)
        mine = multiply_add(
            static_cast<double>(dy[(image * filter_count + k) * positions + position]),
            static_cast<double>(x[((image * r.groups + k / r.out_channels) * r.channels + c) * inside + at]), mine);
    }
    const double sum = combine_threads(mine, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) static_cast<N*>(r.to)[n] = static_cast<N>(sum);
  }
}

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

KERNELS(convolution, convolution_arguments, convolution)
KERNELS(convolution_data_gradient, convolution_arguments, convolution_data_gradient)
KERNELS(convolution_weight_gradient, convolution_arguments, convolution_weight_gradient)
KERNELS(pool, pooling_arguments, pool)
KERNELS(pool_gradient, pooling_arguments, pool_gradient)

}  // namespace troupe::dnn::on_gpu
