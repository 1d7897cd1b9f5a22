// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

template <typename T>
static __device__ __forceinline__ float number(T v) {
    return (float) v;
}
template <>
__device__ float __forceinline__ number<half>(half v) {
    return __half2float(v);
}

// Reduces a value of all threads of the block. memory: a float for each warp
template <class op>
static __device__ float block_all(float v, float * memory, const float nothing) {
    v = warp_all<op>(v);
    if (blockDim.x > WARP_SIZE) {
        __syncthreads();
        if (threadIdx.x % WARP_SIZE == 0) {
            memory[threadIdx.x / WARP_SIZE] = v;
        }
        __syncthreads();
        v = threadIdx.x % WARP_SIZE < blockDim.x / WARP_SIZE ? memory[threadIdx.x % WARP_SIZE] : nothing;
        v = warp_all<op>(v);
    }
    return v;
}

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif // loops whose length is known only in some instances
// Rows of scale*x plus a mask, which each head multiplies by its own slope. known_ncols is 0 if it is not known at compile time.
template <bool in_shared, int known_ncols, typename T>
static __global__ void soft_max(const float * x, const T * mask, float * dst, const int ncols_, const int mask_rows,
                                const float scale, const float max_bias, const uint32_t heads) {
    extern __shared__ float memory[];
    const int ncols = known_ncols == 0 ? ncols_ : known_ncols;
    x    += (int64_t) blockIdx.x*ncols;
    dst  += (int64_t) blockIdx.x*ncols;
    mask += (int64_t) (blockIdx.x % mask_rows)*ncols;
    float * values = in_shared ? memory + WARP_SIZE : dst;

    float slope = 1.0f;
    if (max_bias > 0.0f) {
        const uint32_t head = blockIdx.x / mask_rows;
        slope = exp2f(-max_bias*(head + 1)/heads);
    }

    float largest = -INFINITY;
#pragma unroll
    for (int col0 = 0; col0 < ncols; col0 += blockDim.x) {
        const int col = col0 + threadIdx.x;
        if (known_ncols == 0 && col >= ncols) {
            break;
        }
        values[col] = scale*x[col] + slope*number(mask[col]);
        largest = max(largest, values[col]);
    }
    largest = block_all<op_max>(largest, memory, -INFINITY);

    float sum = 0.0f;
#pragma unroll
    for (int col0 = 0; col0 < ncols; col0 += blockDim.x) {
        const int col = col0 + threadIdx.x;
        if (known_ncols == 0 && col >= ncols) {
            break;
        }
        values[col] = expf(values[col] - largest);
        sum += values[col];
    }
    sum = block_all<op_add>(sum, memory, 0.0f);

    const float inverse = 1.0f / sum;
    for (int col = threadIdx.x; col < ncols; col += blockDim.x) {
        dst[col] = values[col]*inverse;
    }
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif
