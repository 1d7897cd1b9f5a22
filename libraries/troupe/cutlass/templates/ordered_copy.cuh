// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies elements to another order. If the contiguous axis changes, squares of 32 x 32 elements pass through shared
// memory, so that both reads and writes use whole sectors.
namespace troupe::cutlass::kernels {

constexpr int copy_threads = 256, copy_side = 32;

__device__ __forceinline__ bool is_read(const copy_arguments& p, int axis, int x) {
  return static_cast<unsigned>(x - p.zeros_before[axis]) < static_cast<unsigned>(p.inside[axis]);
}

template <class T>
__device__ __forceinline__ void copy_squares(const copy_arguments& p) {
  __shared__ T tile[copy_side][copy_side + 1];
  const T* const source = reinterpret_cast<const T*>(p.from);
  T* const target = reinterpret_cast<T*>(p.to);
  const int lane = static_cast<int>(threadIdx.x) % copy_side, warp = static_cast<int>(threadIdx.x) / copy_side;
  constexpr int warps = copy_threads / copy_side;
  const int across_0 = (p.extents[0] - 1) / copy_side + 1, across_1 = (p.extents[1] - 1) / copy_side + 1;
  long long count = static_cast<long long>(across_0) * across_1;
  for (int i = 2; i < copy_arguments::axes; ++i) count *= p.extents[i];
  for (long long square = blockIdx.x; square < count; square += gridDim.x) {
    long long rest = square;
    const int first_0 = static_cast<int>(rest % across_0) * copy_side;
    rest /= across_0;
    const int first_1 = static_cast<int>(rest % across_1) * copy_side;
    rest /= across_1;
    long long read = 0, write = 0;
    bool inside = true;
#pragma unroll
    for (int i = 2; i < copy_arguments::axes; ++i) {
      const int x = static_cast<int>(rest % p.extents[i]);
      rest /= p.extents[i];
      read += x * p.from_strides[i], write += x * p.to_strides[i];
      inside = inside && is_read(p, i, x);
    }
#pragma unroll
    for (int j = warp; j < copy_side; j += warps) {
      const int x = first_0 + lane, y = first_1 + j;
      T value = 0;
      if (inside && is_read(p, 0, x) && is_read(p, 1, y))
        value = source[read + x * p.from_strides[0] + y * p.from_strides[1]];
      if (p.transposes != 0)
        tile[j][lane] = value;
      else if (x < p.extents[0] && y < p.extents[1])
        target[write + x * p.to_strides[0] + y * p.to_strides[1]] = value;
    }
    if (p.transposes == 0) continue;
    __syncthreads();
#pragma unroll
    for (int j = warp; j < copy_side; j += warps) {
      const int x = first_0 + j, y = first_1 + lane;
      if (x < p.extents[0] && y < p.extents[1])
        target[write + x * p.to_strides[0] + y * p.to_strides[1]] = tile[lane][j];
    }
    __syncthreads();
  }
}

}  // namespace troupe::cutlass::kernels
