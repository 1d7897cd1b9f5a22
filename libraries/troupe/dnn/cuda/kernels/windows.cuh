// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.cuh"

/// Positions of windows over images, for the kernels of convolutions, pooling and resampling.
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

}  // namespace troupe::dnn::on_gpu
