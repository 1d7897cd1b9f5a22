// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>

#include "pooling.cuh"
#include "stored_pooling_arguments.hpp"

/// Pooling and its gradient of tensors as they are stored. A thread computes one element of a result at a time, in the
/// order in which they are in memory.
namespace troupe::dnn::on_gpu {

using kernel_arguments::stored_image, kernel_arguments::stored_pooling_arguments;

/// The indexes of an element of a result.
struct image_index {
  std::uint32_t at[5];

  __device__ image_index(const stored_pooling_arguments& r, std::uint32_t n) {
    for (int i = 5; i-- > 0;) {
      const std::uint32_t axis = r.order[i], extent = r.extents[axis];
      at[axis] = n % extent, n /= extent;
    }
  }
  /// Returns the offset of the first element of the channel in another image.
  __device__ std::uint32_t plane_of(const stored_image& t) const { return at[0] * t.strides[0] + at[1] * t.strides[1]; }
  __device__ std::uint32_t offset_in(const stored_image& t) const {
    return plane_of(t) + at[2] * t.strides[2] + at[3] * t.strides[3] + at[4] * t.strides[4];
  }
};

__device__ inline float value_at(const stored_image& t, std::uint32_t at) {
  if (t.type == dtype::f32) return static_cast<const float*>(t.memory)[at];
  if (t.type == dtype::f16) return __half2float(static_cast<const __half*>(t.memory)[at]);
  return __bfloat162float(static_cast<const __nv_bfloat16*>(t.memory)[at]);
}
__device__ inline void put_value(const stored_image& t, std::uint32_t at, float x) {
  if (t.type == dtype::f32)
    static_cast<float*>(t.memory)[at] = x;
  else if (t.type == dtype::f16)
    static_cast<__half*>(t.memory)[at] = __float2half_rn(x);
  else
    static_cast<__nv_bfloat16*>(t.memory)[at] = __float2bfloat16_rn(x);
}

/// Calls `f(offset)` for each element of the image under a window, in row-major order.
template <class F>
__device__ void for_each_under_window(const stored_pooling_arguments& r, const stored_image& image, std::uint32_t plane,
                                      const int (&position)[3], F&& f) {
  int first[3];
  for (int i = 0; i < 3; ++i) first[i] = position[i] * r.stride[i] - r.padding[i];
  const auto is_inside = [&](int i, int at) { return at >= 0 && at < r.in[i]; };
  for (int a = 0, x = first[0]; a < r.window[0]; ++a, x += r.dilation[0]) {
    if (!is_inside(0, x)) continue;
    for (int b = 0, y = first[1]; b < r.window[1]; ++b, y += r.dilation[1]) {
      if (!is_inside(1, y)) continue;
      for (int c = 0, z = first[2]; c < r.window[2]; ++c, z += r.dilation[2])
        if (is_inside(2, z))
          f(plane + static_cast<std::uint32_t>(x) * image.strides[2] + static_cast<std::uint32_t>(y) * image.strides[3] +
            static_cast<std::uint32_t>(z) * image.strides[4]);
    }
  }
}

/// Calls `f(position)` for each position along an axis at which the window covers element `at`, the last one first.
template <class F>
__device__ void for_each_position(const stored_pooling_arguments& r, int axis, std::uint32_t at, F&& f) {
  int first = static_cast<int>(at) + r.padding[axis];
  for (int k = 0; k < r.window[axis]; ++k, first -= r.dilation[axis]) {
    if (first < 0) return;
    const auto stride = static_cast<std::uint32_t>(r.stride[axis]), from = static_cast<std::uint32_t>(first);
    const std::uint32_t position = from / stride;
    if (position * stride == from && position < static_cast<std::uint32_t>(r.out[axis])) f(static_cast<int>(position));
  }
}

__device__ inline void pool_as_stored(const stored_pooling_arguments& r) {
  const auto kind = static_cast<pooling_kind>(r.kind);
  const auto window = static_cast<float>(r.window[0] * r.window[1] * r.window[2]);
  for (i64 n = first_of_thread(); n < r.count; n += all_threads()) {
    const image_index index(r, static_cast<std::uint32_t>(n));
    const int position[3] = {static_cast<int>(index.at[2]), static_cast<int>(index.at[3]),
                             static_cast<int>(index.at[4])};
    float best = 0, sum = 0;
    int count = 0;
    for_each_under_window(r, r.x, index.plane_of(r.x), position, [&](std::uint32_t at) {
      const float x = value_at(r.x, at);
      if (count++ == 0 || is_better(x, best)) best = x;
      sum += x;
    });
    const float y = kind == pooling_kind::maximum ? best
                                                  : sum / (kind == pooling_kind::mean ? window : static_cast<float>(count));
    put_value(r.to, index.offset_in(r.to), y);
  }
}

/// Computes the gradient of each element of the image from the results of all windows that contain it.
__device__ inline void pool_gradient_as_stored(const stored_pooling_arguments& r) {
  const auto kind = static_cast<pooling_kind>(r.kind);
  const auto window = static_cast<float>(r.window[0] * r.window[1] * r.window[2]);
  for (i64 n = first_of_thread(); n < r.count; n += all_threads()) {
    const image_index index(r, static_cast<std::uint32_t>(n));
    const std::uint32_t plane = index.plane_of(r.x), here = index.offset_in(r.x), of_dy = index.plane_of(r.dy);
    float sum = 0;
    const auto add = [&](const int(&position)[3]) {
      const float d =
          value_at(
              r.dy, of_dy + static_cast<std::uint32_t>(position[0]) * r.dy.strides[2] +
                                  static_cast<std::uint32_t>(position[1]) * r.dy.strides[3] +
                                  static_cast<std::uint32_t>(position[2]) * r.dy.strides[4]);
      if (kind == pooling_kind::mean) {
        sum += d / window;
        return;
      }
      std::uint32_t best_at = 0;
      float best = 0;
      int count = 0;
      for_each_under_window(r, r.x, plane, position, [&](std::uint32_t at) {
        const bool is_first = count++ == 0;
        if (kind != pooling_kind::maximum) return;
        const float x = value_at(r.x, at);
        if (is_first || is_better(x, best)) best = x, best_at = at;
      });
      if (kind == pooling_kind::maximum)
        sum += best_at == here ? d : 0.0f;
      else
        sum += d / static_cast<float>(count);
    };
    for_each_position(r, 0, index.at[2], [&](int a) {
      for_each_position(r, 1, index.at[3], [&](int b) {
        for_each_position(r, 2, index.at[4], [&](int c) { add({a, b, c}); });
      });
    });
    put_value(r.to, index.offset_in(r.to), sum);
  }
}

KERNEL(pool_as_stored_f32, kernel_arguments::stored_pooling_arguments, pool_as_stored)
KERNEL(pool_gradient_as_stored_f32, kernel_arguments::stored_pooling_arguments, pool_gradient_as_stored)

}  // namespace troupe::dnn::on_gpu
