// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Follows an object in a film by many guesses, which are weighed and drawn anew.
 */
#include <stdlib.h>
#include <stdio.h>
#include <math.h>
#include <unistd.h>
#include <fcntl.h>
#include <limits.h>
#include <float.h>
#include <time.h>
#include <sys/time.h>
#define BLOCK_X 16
#define BLOCK_Y 16
#define PI 3.1415926535897932

const int threads_per_block = 64;

/* of the generator */
long M = INT_MAX;
int A = 1103515245;
int C = 12345;

__device__ double uniform(int * seed, int index) {
    const int M = INT_MAX, A = 1103515245, C = 12345;
    int num = A * seed[index] + C;     // wraps around
    seed[index] = num % M;
    return fabs(seed[index] / ((double) M));
}

__device__ double normal(int * seed, int index) {
    double radius = sqrt(-2 * log(uniform(seed, index)));
    return radius * cos(2 * PI * uniform(seed, index));
}

__device__ double round_away(double value) {
    int whole = (int) (value);
    return value - whole >= .5f ? whole + 1 : whole;
}

__global__ void likelihood_kernel(double * arrayX, double * arrayY, double * weights, double * partial_sums,
                                  const int * objxy, const unsigned char * __restrict__ I, int * seed,
                                  int Nparticles, int countOnes, int rows, int cols) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int y;
    __shared__ double buffer[64];

    buffer[threadIdx.x] = 0;
    if (i < Nparticles) {
        arrayX[i] = arrayX[i] + 1.0 + 2.0 * normal(seed, i);
        arrayY[i] = arrayY[i] - 2.0 + 1.0 * normal(seed, i);

        double likelihood = 0;
        for (y = 0; y < countOnes; y++) {
            int at_x = round_away(arrayX[i]) + objxy[y * 2 + 1];
            int at_y = round_away(arrayY[i]) + objxy[y * 2];
            int index = abs(at_x * cols + at_y);
            if (index >= rows * cols) index = 0;
            likelihood += (pow((double) (I[index] - 100), 2) - pow((double) (I[index] - 228), 2)) / 50.0;
        }
        weights[i] = weights[i] * exp(likelihood / countOnes / 50);
        buffer[threadIdx.x] = weights[i];
    }
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            buffer[threadIdx.x] += buffer[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = buffer[0];
    }
}

/* weights that sum to 1, and where in the running sum each new guess looks: u1 + i / N */
__global__ void normalize_kernel(double * weights, int Nparticles, double * partial_sums, int blocks, double * CDF, double * u, int * seed) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    __shared__ double u1, sumWeights;

    if (0 == threadIdx.x) {
        sumWeights = 0;
        for (int b = 0; b < blocks; b++) sumWeights += partial_sums[b];
    }
    __syncthreads();
    if (i < Nparticles) weights[i] = weights[i] / sumWeights;
    __syncthreads();

    if (i == 0) {
        CDF[0] = weights[0];
        for (int x = 1; x < Nparticles; x++)
            CDF[x] = weights[x] + CDF[x - 1];
        u1 = (1 / ((double) (Nparticles))) * uniform(seed, i);
        for (int x = 0; x < Nparticles; x++)
            u[x] = u1 + x / ((double) (Nparticles));
    }
}

__global__ void find_index_kernel(double * arrayX, double * arrayY, double * CDF, double * u, double * xj, double * yj, double * weights, int Nparticles) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < Nparticles) {
        int drawn = 0;
        while (drawn < Nparticles - 1 && !(CDF[drawn] >= u[i])) drawn++;
        weights[i] = 1 / ((double) (Nparticles));
        xj[i] = arrayX[drawn];
        yj[i] = arrayY[drawn];
    }
    __syncthreads();
}
