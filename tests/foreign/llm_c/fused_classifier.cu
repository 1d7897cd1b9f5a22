// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
Softmax, cross entropy and their gradient in one: a block for each row of logits (BT, P), of which the first V count. The
gradient replaces the logits; targets of -1 do not count.
*/
#include "common.h"
#include <assert.h>
#include <cuda_bf16.h>

struct SoftmaxParams {
    float Scale;
    float Offset;
};

// from the end to the beginning, since the end is still in the cache
template<class floatX>
__device__ SoftmaxParams prepare_softmax(int64_t idx, const floatX* inp, int V, int P) {
    using x128 = pack<floatX>;
    const floatX* x = inp + idx * P;
    float top = -INFINITY, total = 0.0f;
    for (int i = divide_up(V, (int)x128::size) + (int)threadIdx.x - (int)blockDim.x; i > -(int)blockDim.x; i -= blockDim.x) {
        if (i < 0 || i * x128::size >= V) { continue; }
        const x128 packed = load(x + i * x128::size);
        for (int k = 0; k < x128::size; ++k) {
            if (i * x128::size + k >= V) { break; }
            const float v = (float)packed[k], before = top;
            top = fmaxf(top, v);
            total *= expf(before - top);
            total += expf(v - top);
        }
    }
    const float of_all = of_block<warp_max>(top, false, -INFINITY);
    // a thread without elements has -inf - x, of which exp is 0
    total *= expf(top - of_all);
    const float sum = of_block<warp_sum>(total);
    return SoftmaxParams{1.f / sum, of_all};
}

template<class floatX, bool WriteProbs = false>
__global__ void __launch_bounds__(1024, 1) fused_classifier_kernel(floatX* logits, float* losses, floatX* probs, const float dloss,
                                                                   const int* targets, int BT, int V, int P) {
    const int64_t idx = gridDim.x - (blockIdx.x + 1);
    const int ix = targets[idx];
    if (ix == -1) { return; }
    const SoftmaxParams sp = prepare_softmax(idx, logits, V, P);
    if (threadIdx.x == 0) {
        const float prob = expf((float)logits[idx * P + ix] - sp.Offset) * sp.Scale;
        losses[idx] -= logf(prob);
    }
    __syncthreads();  // the logit of the target is read; it may change now
    for (int i = threadIdx.x; i < V; i += blockDim.x) {
        const float prob = expf((float)__ldcs(logits + idx * P + i) - sp.Offset) * sp.Scale;
        const float indicator = (i == ix) ? 1.0f : 0.0f;
        logits[idx * P + i] = (floatX)((prob - indicator) * dloss);
        if constexpr (WriteProbs) { probs[idx * P + i] = (floatX)prob; }
    }
}
