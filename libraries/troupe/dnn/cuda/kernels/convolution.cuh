// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "combine_threads.cuh"
#include "windows.cuh"

/// Convolutions and their gradients. One thread computes an element of a result, and one block an element of the
/// filters' gradient: no two add to the same element.
namespace troupe::dnn::on_gpu {

template <class N>
__device__ void convolution(const kernel_arguments::convolution_arguments& r) {
  const i64 positions = count_of(r.out), inside = count_of(r.in), window_size = count_of(r.window),
            filter_count = r.groups * r.filters_of_group;
  const N *const x = static_cast<const N*>(r.first), *const filters = static_cast<const N*>(r.second);
  for (i64 n = first_of_thread(); n < r.images * filter_count * positions; n += all_threads()) {
    const i64 plane = n / positions, k = plane % filter_count;
    const position3 position = position3_of(n % positions, r.out);
    const i64 first = (plane / filter_count * r.groups + k / r.filters_of_group) * r.channels_of_group;
    N sum = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at = image_element(r, position, position3_of(f, r.window));
      if (at < 0) continue;
      for (i64 c = 0; c < r.channels_of_group; ++c)
        sum = multiply_add(x[(first + c) * inside + at], filters[(k * r.channels_of_group + c) * window_size + f], sum);
    }
    static_cast<N*>(r.computed)[n] = sum;
  }
}

template <class N>
__device__ void convolution_data_gradient(const kernel_arguments::convolution_arguments& r) {
  const i64 positions = count_of(r.out), inside = count_of(r.in), window_size = count_of(r.window),
            image_channels = r.groups * r.channels_of_group;
  const N *const dy = static_cast<const N*>(r.first), *const filters = static_cast<const N*>(r.second);
  for (i64 n = first_of_thread(); n < r.images * image_channels * inside; n += all_threads()) {
    const i64 plane = n / inside, c = plane % image_channels % r.channels_of_group,
              group = plane % image_channels / r.channels_of_group;
    const position3 image = position3_of(n % inside, r.in);
    const i64 first = (plane / image_channels * r.groups + group) * r.filters_of_group;
    N sum = 0;
    for (i64 f = 0; f < window_size; ++f) {
      const i64 at = window_position(r, image, position3_of(f, r.window));
      if (at < 0) continue;
      for (i64 k = 0; k < r.filters_of_group; ++k)
        sum =
            multiply_add(dy[(first + k) * positions + at],
                         filters[((group * r.filters_of_group + k) * r.channels_of_group + c) * window_size + f], sum);
    }
    static_cast<N*>(r.computed)[n] = sum;
  }
}

template <class N>
__device__ void convolution_weight_gradient(const kernel_arguments::convolution_arguments& r) {
  const i64 positions = count_of(r.out), inside = count_of(r.in), window_size = count_of(r.window),
            filter_count = r.groups * r.filters_of_group;
  const N *const dy = static_cast<const N*>(r.first), *const x = static_cast<const N*>(r.second);
  for (i64 n = blockIdx.x; n < filter_count * r.channels_of_group * window_size; n += gridDim.x) {
    const i64 k = n / (r.channels_of_group * window_size), c = n / window_size % r.channels_of_group;
    const position3 f = position3_of(n % window_size, r.window);
    double mine = 0;
    for (i64 i = threadIdx.x; i < r.images * positions; i += set_threads) {
      const i64 image = i / positions, position = i % positions;
      const i64 at = image_element(r, position3_of(position, r.out), f);
      if (at >= 0)
        mine =
            multiply_add(static_cast<double>(dy[(image * filter_count + k) * positions + position]),
                         static_cast<double>(
                             x[((image * r.groups + k / r.filters_of_group) * r.channels_of_group + c) * inside + at]),
                         mine);
    }
    const double sum = combine_threads(mine, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) static_cast<N*>(r.computed)[n] = static_cast<N>(sum);
  }
}

KERNELS(convolution, convolution_arguments, convolution)
KERNELS(convolution_data_gradient, convolution_arguments, convolution_data_gradient)
KERNELS(convolution_weight_gradient, convolution_arguments, convolution_weight_gradient)

}  // namespace troupe::dnn::on_gpu
