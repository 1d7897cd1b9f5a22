// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define GPU
#include "cuda_runtime.h"
extern "C" {
#include "darknet.h"
}

// Elements are set to 0 if a random number is below prob: random numbers that are passed, and ones that are made here.
__global__ void leave_out(float *input, int size, float *rand, float prob, float scale)
{
    int id = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(id < size) input[id] = (rand[id] < prob) ? 0 : input[id]*scale;
}

__device__ static unsigned int next_of(unsigned int *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

__global__ void leave_out_seeded(float *input, int size, unsigned int seed, float prob, float scale)
{
    int id = (blockIdx.x + blockIdx.y*gridDim.x) * blockDim.x + threadIdx.x;
    if(id >= size) return;
    unsigned int state = (id + 1) * 2654435761u ^ seed;
    for(int i = 0; i < 4; ++i) next_of(&state);
    input[id] = (next_of(&state) >> 8) * (1.f/16777216) < prob ? 0 : input[id]*scale;
}
