// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Smooths an image and keeps its edges: weights by distance, from constant memory, and by the difference of colours, which
 * are packed in words.
 */
#include <math.h>
#include <helper_math.h>

__constant__ float byDistance[64];

__device__ float byColour(float4 a, float4 b, float d) {
  const float4 off = a + b * -1.0f;
  return __expf(-(off.x * off.x + off.y * off.y + off.z * off.z) / (2.f * d * d));
}

__device__ uint packed(float4 colour) {
  colour.x = __saturatef(fabs(colour.x));  // between 0 and 1
  colour.y = __saturatef(fabs(colour.y));
  colour.z = __saturatef(fabs(colour.z));
  colour.w = __saturatef(fabs(colour.w));
  colour = colour * 255.0f;
  return uint(colour.x) | uint(colour.y) << 8 | uint(colour.z) << 16 | uint(colour.w) << 24;
}

__device__ float4 unpacked(uint word) {
  float4 colour;
  colour.x = word & 0xff;
  colour.y = (word >> 8) & 0xff;
  colour.z = (word >> 16) & 0xff;
  colour.w = word >> 24;
  return colour / 255.0f;
}

__global__ void bilateral(uint *to, const uint *from, int width, int height, float d, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;

  float weights = 0.0f;
  float4 sum = {0.f, 0.f, 0.f, 0.f};
  const float4 centre = unpacked(from[y * width + x]);
  for (int i = -radius; i <= radius; i++) {
    for (int j = -radius; j <= radius; j++) {
      const float4 there = unpacked(from[clamp(y + i, 0, height - 1) * width + clamp(x + j, 0, width - 1)]);
      const float weight = byDistance[i + radius] * byDistance[j + radius] * byColour(there, centre, d);
      sum += weight * there;
      weights += weight;
    }
  }
  to[y * width + x] = packed(sum / weights);
}

// From the smooth image to the original, and further.
__global__ void sharpen(uint *to, const uint *smooth, const uint *original, int pixels, float amount) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) to[i] = packed(clamp(lerp(unpacked(smooth[i]), unpacked(original[i]), amount), 0.0f, 1.0f));
}
