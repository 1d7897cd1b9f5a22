// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.cuh"
#include "kernel_image_arguments.hpp"

/// Normalization across neighboring channels. A thread computes one element of a result at a time.
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

KERNELS(normalize_responses, response_norm_arguments, normalize_responses)
KERNELS(response_gradient, response_norm_arguments, response_gradient)

}  // namespace troupe::dnn::on_gpu
