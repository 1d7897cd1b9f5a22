// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: a sum by tiles of 16, and counting by the lanes that are active together.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename Group>
__device__ int sum_of(const Group& group, int value) {
  for (int offset = group.size() / 2; offset > 0; offset /= 2) value += group.shfl_down(value, offset);
  return value;
}

__global__ void tile_sums(const int* in, int* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = i < n ? in[i] : 0;
  value = sum_of(tile, value);
  if (tile.thread_rank() == 0) atomicAdd(out, value);
}

__global__ void count_even(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 2 == 0) {
    cg::coalesced_group together = cg::coalesced_threads();
    if (together.thread_rank() == 0) atomicAdd(out, (int)together.size());
  }
}
