// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda.h>

#define MAXDISTANCE    (200)

// The shortest paths between all nodes, through one more node with each launch; and the node that each path goes through.
__global__ void
one_more_place (
    unsigned int *__restrict__ distances,
    unsigned int *__restrict__ through,
    const unsigned int places,
    const unsigned int place)
{
  const int to = blockIdx.x * blockDim.x + threadIdx.x;
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  if (to >= places || from >= places) return;

  const unsigned int before = *(distances + from * places + to);
  const unsigned int then = distances[from * places + place] + distances[place * places + to];
  if (then < before) {
    distances[from * places + to] = then;
    through[from * places + to] = place;
  }
}

// Host code
int main(int argc, char** argv)
{
  const unsigned int n = argc > 1 ? atoi(argv[1]) : 256;
  const size_t bytes = sizeof(unsigned int) * n * n;
  unsigned int *distances = (unsigned int*) malloc(bytes), *d_distances, *d_through;
  srand(2);
  for (unsigned int i = 0; i < n * n; i++) distances[i] = i % (n + 1) == 0 ? 0 : 1 + rand() % MAXDISTANCE;

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc((void **) &d_distances, bytes);
  cudaMalloc((void **) &d_through, bytes);
  cudaMemcpyAsync(d_distances, distances, bytes, cudaMemcpyHostToDevice, stream);
  dim3 grids(n / 16, n / 16), threads(16, 16);
  for (unsigned int k = 0; k < n; k++)
    one_more_place<<<grids, threads, 0, stream>>>(d_distances, d_through, n, k);
  cudaStreamSynchronize(stream);
  cudaMemcpy(distances, d_distances, bytes, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(stream);
  cudaFree(d_distances);
  cudaFree(d_through);
  free(distances);
  return EXIT_SUCCESS;
}
