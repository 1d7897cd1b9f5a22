// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/sets/combining.hpp>

/// Functions that combine the values of the threads of a set, in the order of sets::set_partition. All threads of the
/// block must call them.
namespace troupe::dnn::sets {

/// Combines values of several sets in shared memory: `of_sets[j * all + i * pitch]` is for thread i of set j.
template <unsigned Sets, class T, class Combine>
__device__ void combine_in_memory(T (&mine)[Sets], const Combine& combine, unsigned thread, unsigned threads,
                                  T* of_sets, unsigned pitch, unsigned all) {
  for (unsigned j = 0; j < Sets; ++j) of_sets[j * all + thread * pitch] = mine[j];
  __syncthreads();
  const auto combine_pairs = [&](unsigned apart) {
    for (unsigned j = 0; j < Sets && (thread & apart) == 0; ++j) {
      T& first = of_sets[j * all + thread * pitch];
      first = combine(first, of_sets[j * all + (thread + apart) * pitch]);
    }
    __syncthreads();
  };
  for (unsigned apart = 16; apart != 0; apart /= 2)
    if (apart < threads) combine_pairs(apart);
  for (unsigned apart = threads / 2; apart >= 32; apart /= 2) combine_pairs(apart);
  for (unsigned j = 0; j < Sets; ++j) mine[j] = of_sets[j * all];
  __syncthreads();
}
/// Combines the values of a set whose threads are neighbors; `all` has an element for each thread of the block.
template <class T, class Combine>
__device__ T combine_in_memory(T mine, const Combine& combine, unsigned thread, unsigned threads, T* all) {
  T of_set[1] = {mine};
  combine_in_memory(of_set, combine, thread, threads, all + (threadIdx.x - thread), 1, 0);
  return of_set[0];
}
/// Return the functions that combine two values of a reduction, and two moments.
__device__ inline auto combine_as(reduction_kind how) {
  return [how](auto a, decltype(a) b) { return combine(how, a, b); };
}
template <class Share>
__device__ auto combine_moments() {
  return [](const auto& a, const auto& b) { return combine<Share>(a, b); };
}

#ifdef __CUDA_ARCH__
template <reduction_kind How, class T>
__device__ void combine_lanes(T& mine, unsigned apart) {
  const T other = __shfl_xor_sync(0xffffffffu, mine, static_cast<int>(apart));
  mine = (threadIdx.x & apart) != 0 ? combine(How, other, mine) : combine(How, mine, other);
}
/// Combines moments; if `Full`, both have as many elements.
template <bool Full, class Share, class N>
__device__ void combine_lanes(moments<N>& mine, unsigned apart) {
  const auto other = [apart](N x) { return __shfl_xor_sync(0xffffffffu, x, static_cast<int>(apart)); };
  const moments<N> theirs{Full ? mine.count : other(mine.count), other(mine.mean), other(mine.squares)};
  if constexpr (Full) {
    const N distance = (threadIdx.x & apart) != 0 ? mine.mean - theirs.mean : theirs.mean - mine.mean,
            first = (threadIdx.x & apart) != 0 ? theirs.mean : mine.mean;
    const N a = (threadIdx.x & apart) != 0 ? theirs.squares : mine.squares,
            b = (threadIdx.x & apart) != 0 ? mine.squares : theirs.squares;
    mine = {2 * mine.count, multiply_add(distance, N(0.5), first),
            a + multiply_add(distance * distance, mine.count * N(0.5), b)};
  } else {
    mine = (threadIdx.x & apart) != 0 ? combine<Share>(theirs, mine) : combine<Share>(mine, theirs);
  }
}
#endif

/// Combines values of `Threads` neighboring threads; the block has `All`. Each call in a kernel has another number, and
/// so its own memory, and is executed once: thus one barrier suffices.
template <unsigned Call, unsigned Threads, unsigned All, reduction_kind... How, class... T>
__device__ void combine_neighbors(T&... mine) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (unsigned apart = 16; apart != 0; apart /= 2)
    if (apart < Threads) (combine_lanes<How>(mine, apart), ...);
  if constexpr (Threads > 32) {
    constexpr unsigned warps = Threads / 32;
    __shared__ double of_warps[sizeof...(T)][All / 32];
    unsigned to = 0, from = 0;
    if (threadIdx.x % 32 == 0) ((reinterpret_cast<T*>(of_warps[to++])[threadIdx.x / 32] = mine), ...);
    __syncthreads();
    const unsigned of_lane = threadIdx.x / Threads * warps + threadIdx.x % warps;
    ((mine = reinterpret_cast<T*>(of_warps[from++])[of_lane]), ...);
#pragma unroll
    for (unsigned apart = 16; apart != 0; apart /= 2)
      if (apart < warps) (combine_lanes<How>(mine, apart), ...);
  }
#else
  const auto combine_one = [](reduction_kind how, auto& value) {
    __shared__ double all[All];
    value = combine_in_memory(value, combine_as(how), threadIdx.x % Threads, Threads,
                              reinterpret_cast<decltype(+value)*>(all));
  };
  if constexpr (Threads != 1) (combine_one(How, mine), ...);
#endif
}

/// Does the same with moments. If `Full`, all threads have as many elements.
template <unsigned Call, unsigned Threads, unsigned All, bool Full, class Share, class N>
__device__ void combine_neighbors(moments<N>& mine) {
#ifdef __CUDA_ARCH__
#pragma unroll
  for (unsigned apart = 16; apart != 0; apart /= 2)
    if (apart < Threads) combine_lanes<Full, Share>(mine, apart);
  if constexpr (Threads > 32) {
    constexpr unsigned warps = Threads / 32;
    __shared__ moments<N> of_warps[All / 32];
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    const moments<N>& of_lane = of_warps[threadIdx.x / Threads * warps + threadIdx.x % warps];
    mine = {Full ? mine.count : of_lane.count, of_lane.mean, of_lane.squares};
#pragma unroll
    for (unsigned apart = 16; apart != 0; apart /= 2)
      if (apart < warps) combine_lanes<Full, Share>(mine, apart);
  }
#else
  __shared__ moments<N> all[All];
  if constexpr (Threads != 1)
    mine = combine_in_memory(mine, combine_moments<Share>(), threadIdx.x % Threads, Threads, all);
#endif
}

/// Combines the values of `Threads` threads for each of `Sets` sets. Thread t of the sets of lane l < `Lanes` is thread
/// t * Lanes + l of those of a line; the block has `All` threads. `memory` is shared, and has an element for each thread
/// and set.
template <reduction_kind How, unsigned Threads, unsigned Lanes, unsigned All, unsigned Sets, class T>
__device__ void combine_columns(T (&mine)[Sets], double* memory) {
  if constexpr (Threads != 1) {
    const unsigned thread = threadIdx.x / Lanes % Threads;
    combine_in_memory(mine, combine_as(How), thread, Threads,
                      reinterpret_cast<T*>(memory) + (threadIdx.x - thread * Lanes), Lanes, All);
  }
}
/// Does the same with moments, one set after the other: `memory` has moments for each thread.
template <unsigned Threads, unsigned Lanes, class Share, unsigned Sets, class N>
__device__ void combine_columns(moments<N> (&mine)[Sets], double* memory) {
  if constexpr (Threads != 1) {
    const unsigned thread = threadIdx.x / Lanes % Threads;
    for (unsigned j = 0; j < Sets; ++j) {
      moments<N> of_set[1] = {mine[j]};
      combine_in_memory(of_set, combine_moments<Share>(), thread, Threads,
                        reinterpret_cast<moments<N>*>(memory) + (threadIdx.x - thread * Lanes), Lanes, 0);
      mine[j] = of_set[0];
    }
  }
}

}  // namespace troupe::dnn::sets
