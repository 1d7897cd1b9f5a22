// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Cross entropy of probabilities (B, T, V) with targets (B, T), and what it means for the logits behind them.
*/
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

__global__ void crossentropy_forward_kernel(float* losses, const float* probs, const int* targets, int B, int T, int V) {
    int position = blockIdx.x * blockDim.x + threadIdx.x;
    if (position < B * T) {
        int b = position / T;
        int t = position % T;
        const float* row = probs + b * T * V + t * V;
        int ix = targets[b * T + t];
        losses[b * T + t] = -logf(row[ix]);
    }
}

// a grid of {V / threads, B * T}
__global__ void crossentropy_softmax_backward_kernel(float* dlogits, const float* dlosses, const float* probs, const int* targets,
                                                     int V) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, position = blockIdx.y;
    if (v < V) {
        dlogits += position * V;
        float indicator = (v == targets[position]) ? 1.0f : 0.0f;
        dlogits[v] += (probs[position * V + v] - indicator) * dlosses[position];
    }
}
