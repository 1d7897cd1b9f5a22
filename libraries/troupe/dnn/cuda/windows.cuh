// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sets.cuh"

/// Operations that slide a window over images. Each result is computed by one thread, those of filters by one block: no
/// two threads add to the same element.
namespace troupe::dnn::on_gpu {

/// A position along three axes, the last of which is the fastest.
struct triple {
  i64 a, b, c;
};
__device__ inline triple triple_of(i64 n, const i64 (&extents)[3]) {
  return {n / (extents[2] * extents[1]), n / extents[2] % extents[1], n % extents[2]};
}
__device__ inline i64 count_of(const i64 (&extents)[3]) { return extents[0] * extents[1] * extents[2]; }

/// Returns the element of the image at element f of the window at a position; -1 if it is outside the image.
__device__ inline i64 image_element(const kernel_arguments::windows& g, const triple& position, const triple& f) {
  const i64 x = position.a * g.stride[0] - g.padding_before[0] + f.a * g.dilation[0],
            y = position.b * g.stride[1] - g.padding_before[1] + f.b * g.dilation[1],
            z = position.c * g.stride[2] - g.padding_before[2] + f.c * g.dilation[2];
  if (x < 0 || x >= g.in[0] || y < 0 || y >= g.in[1] || z < 0 || z >= g.in[2]) return -1;
  return (x * g.in[1] + y) * g.in[2] + z;
}
/// Returns the position at which element f of the window is at an element of the image; -1 if there is none.
__device__ inline i64 window_position(const kernel_arguments::windows& g, const triple& image, const triple& f) {
  const i64 at[3] = {image.a + g.padding_before[0] - f.a * g.dilation[0],
                     image.b + g.padding_before[1] - f.b * g.dilation[1],
                     image.c + g.padding_before[2] - f.c * g.dilation[2]};
  i64 position = 0;
  for (int i = 0; i < 3; ++i) {
    if (at[i] < 0 || at[i] % g.stride[i] != 0 || at[i] / g.stride[i] >= g.out[i]) return -1;
    position = position * g.out[i] + at[i] / g.stride[i];
  }
  return position;
}

template <class N>
__device__ void convolve(const kernel_arguments::convolving& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), width = count_of(r.g.width),
            all_out = r.groups * r.out_channels;
  const N *const x = static_cast<const N*>(r.a), *const filters = static_cast<const N*>(r.b);
  for (i64 n = first_of_thread(); n < r.images * all_out * positions; n += all_threads()) {
    const i64 plane = n / positions, k = plane % all_out;
    const triple position = triple_of(n % positions, r.g.out);
    const i64 first = (plane / all_out * r.groups + k / r.out_channels) * r.channels;
    N sum = 0;
    for (i64 f = 0; f < width; ++f) {
      const i64 at = image_element(r.g, position, triple_of(f, r.g.width));
      if (at < 0) continue;
      for (i64 c = 0; c < r.channels; ++c)
        sum = multiply_add(x[(first + c) * inside + at], filters[(k * r.channels + c) * width + f], sum);
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

template <class N>
__device__ void convolution_data_gradient(const kernel_arguments::convolving& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), width = count_of(r.g.width),
            all_in = r.groups * r.channels;
  const N *const dy = static_cast<const N*>(r.a), *const filters = static_cast<const N*>(r.b);
  for (i64 n = first_of_thread(); n < r.images * all_in * inside; n += all_threads()) {
    const i64 plane = n / inside, c = plane % all_in % r.channels, group = plane % all_in / r.channels;
    const triple image = triple_of(n % inside, r.g.in);
    const i64 first = (plane / all_in * r.groups + group) * r.out_channels;
    N sum = 0;
    for (i64 f = 0; f < width; ++f) {
      const i64 at = window_position(r.g, image, triple_of(f, r.g.width));
      if (at < 0) continue;
      for (i64 k = 0; k < r.out_channels; ++k)
        sum = multiply_add(dy[(first + k) * positions + at],
                           filters[((group * r.out_channels + k) * r.channels + c) * width + f], sum);
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

template <class N>
__device__ void convolution_weight_gradient(const kernel_arguments::convolving& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), width = count_of(r.g.width),
            all_out = r.groups * r.out_channels;
  const N *const dy = static_cast<const N*>(r.a), *const x = static_cast<const N*>(r.b);
  for (i64 n = blockIdx.x; n < all_out * r.channels * width; n += gridDim.x) {
    const i64 k = n / (r.channels * width), c = n / width % r.channels;
    const triple f = triple_of(n % width, r.g.width);
    double mine = 0;
    for (i64 i = threadIdx.x; i < r.images * positions; i += set_threads) {
      const i64 image = i / positions, position = i % positions;
      const i64 at = image_element(r.g, triple_of(position, r.g.out), f);
      if (at >= 0)
        mine = multiply_add(
            static_cast<double>(dy[(image * all_out + k) * positions + position]),
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
__device__ void pool(const kernel_arguments::pooling& r) {
  const i64 positions = count_of(r.g.out), width = count_of(r.g.width);
  for (i64 n = first_of_thread(); n < r.planes * positions; n += all_threads()) {
    const N* const image = static_cast<const N*>(r.x) + n / positions * count_of(r.g.in);
    const triple position = triple_of(n % positions, r.g.out);
    N best = 0, sum = 0;
    i64 count = 0;
    for (i64 f = 0; f < width; ++f) {
      const i64 at = image_element(r.g, position, triple_of(f, r.g.width));
      if (at < 0) continue;
      if (count++ == 0 || is_better(image[at], best)) best = image[at];
      sum += image[at];
    }
    const auto kind = static_cast<pooling_kind>(r.kind);
    static_cast<N*>(r.to)[n] =
        kind == pooling_kind::maximum ? best : sum / static_cast<N>(kind == pooling_kind::mean ? width : count);
  }
}

/// Computes the gradient of each element of the image from all windows that contain it.
template <class N>
__device__ void pool_gradient(const kernel_arguments::pooling& r) {
  const i64 positions = count_of(r.g.out), inside = count_of(r.g.in), width = count_of(r.g.width);
  const auto kind = static_cast<pooling_kind>(r.kind);
  for (i64 n = first_of_thread(); n < r.planes * inside; n += all_threads()) {
    const i64 plane = n / inside;
    const triple here = triple_of(n % inside, r.g.in);
    N sum = 0;
    for (i64 f = 0; f < width; ++f) {
      const i64 at_result = window_position(r.g, here, triple_of(f, r.g.width));
      if (at_result < 0) continue;
      const triple position = triple_of(at_result, r.g.out);
      i64 best = -1, count = 0;
      for (i64 w = 0; kind != pooling_kind::mean && w < width; ++w) {
        const i64 at = image_element(r.g, position, triple_of(w, r.g.width));
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
        sum += d / static_cast<N>(kind == pooling_kind::mean ? width : count);
    }
    static_cast<N*>(r.to)[n] = sum;
  }
}

}  // namespace troupe::dnn::on_gpu
