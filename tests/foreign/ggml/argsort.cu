// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "common.cuh"

enum sort_order { ORDER_ASC, ORDER_DESC };

template <typename T>
static inline __device__ void exchange(T & a, T & b) {
    T tmp = a;
    a = b;
    b = tmp;
}

// Indices that sort each row: one block for each row, with a power of two of threads, at least ncols.
template <sort_order order>
static __global__ void argsort_f32_i32(const float * x, int * dst, const int ncols, int ncols_pad) {
    extern __shared__ int order_of[];
    const float * row = x + blockIdx.y*ncols;
    const int col = threadIdx.x;
    if (col >= ncols_pad) {
        return;
    }
    order_of[col] = col;
    __syncthreads();

    for (int size = 2; size <= ncols_pad; size *= 2) {
        for (int reach = size / 2; reach > 0; reach /= 2) {
            const int other = col ^ reach;
            if (other > col) {
                // indices beyond the row go to the end
                const bool after = order_of[col] >= ncols ||
                    (order_of[other] < ncols && (order == ORDER_ASC ? row[order_of[col]] > row[order_of[other]]
                                                                    : row[order_of[col]] < row[order_of[other]]));
                const bool before = order_of[other] >= ncols ||
                    (order_of[col] < ncols && (order == ORDER_ASC ? row[order_of[col]] < row[order_of[other]]
                                                                  : row[order_of[col]] > row[order_of[other]]));
                if ((col & size) == 0 ? after : before) {
                    exchange(order_of[col], order_of[other]);
                }
            }
            __syncthreads();
        }
    }
    if (col < ncols) {
        dst[blockIdx.y*ncols + col] = order_of[col];
    }
}
