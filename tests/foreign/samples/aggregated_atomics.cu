// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Filters of arrays: an atomic for each element, one for the threads of a warp that come along together, and by votes.
 */
#include <stdio.h>
#include <assert.h>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// One addition for all that are here; each gets a place of its own.
__device__ int nextPlace(int *counter) {
  cg::coalesced_group active = cg::coalesced_threads();
  int place = 0;
  if (active.thread_rank() == 0) place = atomicAdd(counter, active.size());
  place = active.shfl(place, 0);
  return place + active.thread_rank();
}

__global__ void filter_simple(int *dst, int *nres, const int *src, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n && src[i] > 0) dst[atomicAdd(nres, 1)] = src[i];
}

__global__ void filter_aggregated(int *dst, int *nres, const int *src, int n) {
  int id = threadIdx.x + blockIdx.x * blockDim.x;
  for (int i = id; i < n; i += gridDim.x * blockDim.x) {
    if (src[i] > 0) dst[nextPlace(nres)] = src[i];
  }
}

// By hand: ballots, and the number of lanes before this one.
__global__ void filter_ballot(int *dst, int *nres, const int *src, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const unsigned here = __ballot_sync(0xffffffff, i < n);
  if (i >= n) return;
  const bool keep = src[i] > 0;
  const unsigned kept = __ballot_sync(here, keep);
  const unsigned before = kept & ((1u << (threadIdx.x % 32)) - 1);
  int base = 0;
  if (kept != 0) {
    const int leader = __ffs(kept) - 1;
    if (threadIdx.x % 32 == leader) base = atomicAdd(nres, __popc(kept));
    base = __shfl_sync(here, base, leader);
  }
  if (keep) dst[base + __popc(before)] = src[i];
}

// Of a bucket for each label: those with the same one find each other.
__device__ unsigned counters[8];
__global__ void count_labels(const unsigned *labels, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  const unsigned peers = __match_any_sync(__activemask(), labels[i]);
  if ((threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&counters[labels[i]], __popc(peers));
}

// Votes of warps and of blocks.
__global__ void votes(const int *src, int *any, int *all, int *count) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const int a = __any_sync(0xffffffff, src[i]), b = __all_sync(0xffffffff, src[i]);
  const int c = __syncthreads_count(src[i]);
  const bool none = !__syncthreads_or(src[i]), each = __syncthreads_and(src[i] || threadIdx.x < 32);
  if (threadIdx.x % 32 == 0) {
    any[i / 32] = a;
    all[i / 32] = b;
    count[i / 32] = c + 1000 * none + 2000 * each;
  }
}
