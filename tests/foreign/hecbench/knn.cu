// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cmath>
#include <cuda.h>
#include <time.h>

// The k nearest reference points for each query: distances by tiles, an insertion sort for each query, then square roots.
#define TILE 16

__global__ void squares_of_tiles(const float *__restrict__ refs, const int n_refs,
                                 const float *__restrict__ queries, const int n_queries,
                                 const int dim, float *__restrict__ out)
{
  static __shared__ float some_refs[TILE][TILE], some_queries[TILE][TILE];
  static __shared__ int first_ref, first_query;

  if (threadIdx.x == 0 && threadIdx.y == 0) {
    first_ref = TILE * blockIdx.y;
    first_query = TILE * blockIdx.x;
  }
  __syncthreads();

  const int ref = first_ref + threadIdx.y, query = first_query + threadIdx.x;
  refs += first_ref + threadIdx.x;
  queries += query;
  float sum = 0;

  for (int d = 0; d < dim; d += TILE, refs += TILE * n_refs, queries += TILE * n_queries) {
    const bool there = d + threadIdx.y < dim;
    some_refs[threadIdx.y][threadIdx.x] = there && first_ref + threadIdx.x < n_refs ? refs[threadIdx.y * n_refs] : 0;
    some_queries[threadIdx.y][threadIdx.x] = there && query < n_queries ? queries[threadIdx.y * n_queries] : 0;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < TILE; ++k) {
      const float apart = some_refs[k][threadIdx.y] - some_queries[k][threadIdx.x];
      sum += apart * apart;
    }
    __syncthreads();
  }
  if (ref < n_refs && query < n_queries) out[ref * n_queries + query] = sum;
}

__global__ void nearest_first(float *squares, int *index, int n_queries, int n_refs, int k)
{
  unsigned int query = blockIdx.x * blockDim.x + threadIdx.x;
  if (query >= n_queries) return;
  squares += query;
  index += query;

  for (int r = 0; r < n_refs; r++) {
    const float mine = squares[r * n_queries];
    int at = min(r, k);
    for (; at > 0 && squares[(at - 1) * n_queries] > mine; --at)
      if (at < k) {
        squares[at * n_queries] = squares[(at - 1) * n_queries];
        index[at * n_queries] = index[(at - 1) * n_queries];
      }
    if (at < k) {
      squares[at * n_queries] = mine;
      index[at * n_queries] = r;
    }
  }
}

__global__ void roots(float *squares, int n_queries, int k)
{
  unsigned int query = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int rank = blockIdx.y * blockDim.y + threadIdx.y;
  if (query < n_queries && rank < k) squares[rank * n_queries + query] = sqrt(squares[rank * n_queries + query]);
}
